use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceBinding;

use super::database::Database;
use super::lock::{lock_head, lock_session};
use crate::attempt::{Fault, Repeat};
use crate::rows::{BindingRow, holder_of};
use crate::rules::{self, Bind};
use crate::sql;

pub(super) async fn bind(
    database: &Arc<Database>,
    session: &SessionId,
    binding: WorkspaceBinding,
) -> Result<(), StoreError> {
    let work = Arc::new((session.clone(), binding));
    database
        .write("bind a session", Repeat::Safe, move |database| {
            let work = Arc::clone(&work);
            async move { bind_once(&database, &work.0, &work.1).await }
        })
        .await
}

async fn bind_once(
    database: &Database,
    session: &SessionId,
    binding: &WorkspaceBinding,
) -> Result<(), Fault> {
    let mut transaction = database.begin().await?;
    lock_session(&mut transaction, session).await?;
    let present: Option<BindingRow> = sqlx::query_as(sql::bindings::OF_SESSION)
        .bind(session.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    if rules::bind(session, binding, present)? == Bind::Done {
        return Ok(());
    }
    lock_head(&mut transaction, binding).await?;
    let holder: Option<String> = sqlx::query_scalar(sql::bindings::HOLDER)
        .bind(binding.workspace_id.as_str())
        .bind(binding.provider_id.as_str())
        .bind(binding.head_id.as_str())
        .bind(binding.access.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    if let Some(holder) = holder {
        return Err(StoreError::HeadBound {
            head: binding.head_id.clone(),
            session: holder_of(holder)?,
        }
        .into());
    }
    sqlx::query(sql::bindings::INSERT)
        .bind(session.as_str())
        .bind(binding.provider_id.as_str())
        .bind(binding.workspace_id.as_str())
        .bind(binding.head_id.as_str())
        .bind(binding.access.as_str())
        .bind(binding.payload.to_json())
        .execute(&mut *transaction)
        .await?;
    hit("store.bind.before-commit")?;
    transaction.commit().await?;
    hit("store.bind.after-commit")?;
    Ok(())
}
