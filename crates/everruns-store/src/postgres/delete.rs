use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, StoreError};

use super::database::Database;
use super::lock::lock_session;
use crate::attempt::{Fault, Repeat};
use crate::rows::LeaseRow;
use crate::rules;
use crate::sql;

pub(super) async fn delete(
    database: &Arc<Database>,
    session: &SessionId,
    token: Option<FencingToken>,
) -> Result<(), StoreError> {
    let session = Arc::new(session.clone());
    database
        .write("delete a session", Repeat::Unsafe, move |database| {
            let session = Arc::clone(&session);
            async move { delete_once(&database, &session, token).await }
        })
        .await
}

async fn delete_once(
    database: &Database,
    session: &SessionId,
    token: Option<FencingToken>,
) -> Result<(), Fault> {
    let mut transaction = database.begin().await?;
    lock_session(&mut transaction, session).await?;
    let row: Option<LeaseRow> = sqlx::query_as(sql::leases::OF_SESSION)
        .bind(session.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    rules::check_deletable(session, row, token)?;
    sqlx::query(sql::sessions::DELETE)
        .bind(session.as_str())
        .execute(&mut *transaction)
        .await?;
    sqlx::query(sql::leases::CLEAR)
        .bind(session.as_str())
        .execute(&mut *transaction)
        .await?;
    hit("store.delete.before-commit")?;
    transaction.commit().await?;
    hit("store.delete.after-commit")?;
    Ok(())
}
