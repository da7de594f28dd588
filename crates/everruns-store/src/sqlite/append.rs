use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::session::{AppendReceipt, StoreError};
use sqlx::{Sqlite, Transaction};

use super::database::Database;
use crate::attempt::{Fault, Repeat};
use crate::rows::{AppendRow, to_stored};
use crate::rules::{self, Append, Batch};
use crate::sql;

pub(super) const OPERATION: &str = "append events";

/// What became of each batch of a group.
pub(super) type Outcomes = Vec<Result<AppendReceipt, StoreError>>;

/// Appends all batches with one commit. A batch that the rules refuse changes nothing and does not stop the others;
/// anything else that fails fails all of them.
pub(super) async fn append(
    database: &Arc<Database>,
    batches: Arc<[Arc<Batch>]>,
) -> Result<Outcomes, StoreError> {
    database
        .write(OPERATION, Repeat::Safe, move |database| {
            let batches = Arc::clone(&batches);
            async move { append_once(&database, &batches).await }
        })
        .await
}

async fn append_once(database: &Database, batches: &[Arc<Batch>]) -> Result<Outcomes, Fault> {
    let mut transaction = database.begin().await?;
    let mut outcomes = Vec::with_capacity(batches.len());
    let mut changed = false;
    for batch in batches {
        let outcome = match apply(&mut transaction, batch).await {
            Ok(receipt) => Ok(receipt),
            Err(Fault::Store(refusal)) => Err(refusal),
            Err(fault) => return Err(fault),
        };
        changed |= outcome.as_ref().is_ok_and(|receipt| !receipt.replayed);
        outcomes.push(outcome);
    }
    if changed {
        hit("store.append.before-commit")?;
        transaction.commit().await?;
        hit("store.append.after-commit")?;
    }
    Ok(outcomes)
}

/// Refuses before it changes anything.
async fn apply(
    transaction: &mut Transaction<'static, Sqlite>,
    batch: &Batch,
) -> Result<AppendReceipt, Fault> {
    let request = &batch.request;
    let row: Option<AppendRow> = sqlx::query_as(sql::events::APPEND_STATE)
        .bind(request.session.as_str())
        .bind(&request.idempotency_key)
        .fetch_optional(&mut **transaction)
        .await?;
    let receipt = match rules::append(batch, row)? {
        Append::Answer(receipt) => return Ok(receipt),
        Append::Apply(receipt) => receipt,
    };
    let first = to_stored(OPERATION, receipt.first.0)?;
    let last = to_stored(OPERATION, receipt.last.0)?;
    for (seq, payload) in (first..=last).zip(&batch.payloads) {
        let is_first = seq == first;
        sqlx::query(sql::events::INSERT)
            .bind(request.session.as_str())
            .bind(seq)
            .bind(request.at.as_millis())
            .bind(payload)
            .bind(is_first.then_some(&request.idempotency_key))
            .bind(is_first.then_some(last))
            .execute(&mut **transaction)
            .await?;
    }
    sqlx::query(sql::sessions::NOTE_APPEND)
        .bind(request.session.as_str())
        .bind(last)
        .bind(request.at.as_millis())
        .bind(&batch.agent)
        .execute(&mut **transaction)
        .await?;
    Ok(receipt)
}
