use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::session::{SessionRecord, StoreError};

use super::database::Database;
use super::lock::{lock_head, lock_session};
use crate::attempt::{Fault, Repeat};
use crate::rows::{LeaseRow, holder_of};
use crate::rules::{self, FORK, Fork};
use crate::sql;

pub(super) async fn fork(
    database: &Arc<Database>,
    fork: Fork,
) -> Result<SessionRecord, StoreError> {
    let fork = Arc::new(fork);
    database
        .write(FORK, Repeat::Unsafe, move |database| {
            let fork = Arc::clone(&fork);
            async move { fork_once(&database, &fork).await }
        })
        .await
}

async fn fork_once(database: &Database, fork: &Fork) -> Result<SessionRecord, Fault> {
    let (request, binding) = (&fork.request, &fork.request.binding);
    let at = request.session.created_at.as_millis();
    let mut transaction = database.begin().await?;
    // So that nobody takes the source over before the session is made.
    lock_session(&mut transaction, &request.source).await?;
    lock_head(&mut transaction, binding).await?;
    let last: Option<i64> = sqlx::query_scalar(sql::sessions::LAST_PLACE)
        .bind(request.source.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    fork.check_source(last)?;
    let lease: Option<LeaseRow> = sqlx::query_as(sql::leases::OF_SESSION)
        .bind(request.source.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    rules::check_present(&request.source, lease, request.token)?;
    let inserted = sqlx::query(sql::sessions::INSERT)
        .bind(fork.id().as_str())
        .bind(request.session.title.as_deref())
        .bind(&fork.agent)
        .bind(at)
        .execute(&mut *transaction)
        .await?;
    if inserted.rows_affected() == 0 {
        return Err(StoreError::AlreadyExists {
            session: fork.id().clone(),
        }
        .into());
    }
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
        .bind(fork.id().as_str())
        .bind(binding.provider_id.as_str())
        .bind(binding.workspace_id.as_str())
        .bind(binding.head_id.as_str())
        .bind(binding.access.as_str())
        .bind(binding.payload.to_json())
        .execute(&mut *transaction)
        .await?;
    sqlx::query(sql::events::COPY)
        .bind(fork.id().as_str())
        .bind(request.source.as_str())
        .bind(fork.through)
        .execute(&mut *transaction)
        .await?;
    for (seq, payload) in (fork.through + 1..).zip(&fork.payloads) {
        sqlx::query(sql::events::INSERT)
            .bind(fork.id().as_str())
            .bind(seq)
            .bind(at)
            .bind(payload)
            .bind(None::<&str>)
            .bind(None::<i64>)
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query(sql::sessions::NOTE_APPEND)
        .bind(fork.id().as_str())
        .bind(fork.last)
        .bind(at)
        .bind(None::<&str>)
        .execute(&mut *transaction)
        .await?;
    hit("store.fork.before-commit")?;
    transaction.commit().await?;
    hit("store.fork.after-commit")?;
    Ok(fork.record()?)
}
