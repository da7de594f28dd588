use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::session::{AppendReceipt, StoreError};

use super::database::Database;
use super::lock::lock_session;
use crate::attempt::{Fault, Repeat};
use crate::rows::{AppendRow, to_stored};
use crate::rules::{self, Append, Batch};
use crate::sql;

const OPERATION: &str = "append events";

pub(super) async fn append(
    database: &Arc<Database>,
    batch: Batch,
) -> Result<AppendReceipt, StoreError> {
    let batch = Arc::new(batch);
    database
        .write(OPERATION, Repeat::Safe, move |database| {
            let batch = Arc::clone(&batch);
            async move { append_once(&database, &batch).await }
        })
        .await
}

async fn append_once(database: &Database, batch: &Batch) -> Result<AppendReceipt, Fault> {
    let request = &batch.request;
    let mut transaction = database.begin().await?;
    lock_session(&mut transaction, &request.session).await?;
    let row: Option<AppendRow> = sqlx::query_as(sql::events::APPEND_STATE)
        .bind(request.session.as_str())
        .bind(&request.idempotency_key)
        .fetch_optional(&mut *transaction)
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
            .execute(&mut *transaction)
            .await?;
    }
    sqlx::query(sql::sessions::NOTE_APPEND)
        .bind(request.session.as_str())
        .bind(last)
        .bind(request.at.as_millis())
        .bind(&batch.agent)
        .execute(&mut *transaction)
        .await?;
    hit("store.append.before-commit")?;
    transaction.commit().await?;
    hit("store.append.after-commit")?;
    Ok(receipt)
}
