use everruns_core::ids::SessionId;
use everruns_core::workspace::WorkspaceBinding;
use sqlx::{Postgres, Transaction};

use crate::attempt::Fault;

/// Lets nobody else change the session until the transaction ends; nothing happens when there is no such session.
///
/// A statement of its own, so that the next one sees what the holder before committed.
pub(super) async fn lock_session(
    transaction: &mut Transaction<'static, Postgres>,
    session: &SessionId,
) -> Result<(), Fault> {
    sqlx::query("SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE")
        .bind(session.as_str())
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

/// As [`lock_session`] for those of `sessions` that nobody else has locked, which it gives.
pub(super) async fn lock_free_sessions(
    transaction: &mut Transaction<'static, Postgres>,
    sessions: &[&str],
) -> Result<Vec<String>, Fault> {
    let free = "SELECT id FROM sessions WHERE id = ANY($1) FOR UPDATE SKIP LOCKED";
    Ok(sqlx::query_scalar(free)
        .bind(sessions)
        .fetch_all(&mut **transaction)
        .await?)
}

/// Lets nobody else bind the head until the transaction ends. Always after the session, so that two cannot wait for
/// each other.
pub(super) async fn lock_head(
    transaction: &mut Transaction<'static, Postgres>,
    binding: &WorkspaceBinding,
) -> Result<(), Fault> {
    // `/` is in no id, so different heads give different texts.
    let name = format!(
        "everruns head {}/{}/{}",
        binding.provider_id, binding.workspace_id, binding.head_id
    );
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(name)
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
