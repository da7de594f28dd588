use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, Lease, LeaseOwner, StoreError};

use super::database::Database;
use super::lock::lock_session;
use crate::attempt::{Fault, Repeat};
use crate::rows::{LeaseRow, to_stored};
use crate::rules;
use crate::sql;

const ACQUIRE: &str = "take a lease";
const RELEASE: &str = "give up a lease";

pub(super) async fn acquire(
    database: &Arc<Database>,
    session: &SessionId,
    owner: &LeaseOwner,
    now: Timestamp,
    duration: Duration,
) -> Result<Lease, StoreError> {
    let work = Arc::new((session.clone(), owner.clone()));
    database
        .write(ACQUIRE, Repeat::Safe, move |database| {
            let work = Arc::clone(&work);
            async move { acquire_once(&database, &work.0, &work.1, now, duration).await }
        })
        .await
}

async fn acquire_once(
    database: &Database,
    session: &SessionId,
    owner: &LeaseOwner,
    now: Timestamp,
    duration: Duration,
) -> Result<Lease, Fault> {
    let mut transaction = database.begin().await?;
    lock_session(&mut transaction, session).await?;
    let row: Option<LeaseRow> = sqlx::query_as(sql::leases::OF_SESSION)
        .bind(session.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    let token = rules::acquire(session, row, owner, now)?;
    let expires_at = now.plus(duration);
    sqlx::query(sql::leases::PUT)
        .bind(session.as_str())
        .bind(to_stored(ACQUIRE, token.0)?)
        .bind(&owner.0)
        .bind(expires_at.as_millis())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Lease {
        session: session.clone(),
        owner: owner.clone(),
        token,
        expires_at,
    })
}

pub(super) async fn release(
    database: &Arc<Database>,
    session: &SessionId,
    token: FencingToken,
) -> Result<(), StoreError> {
    // A token that cannot be stored was never given.
    let Ok(token) = to_stored(RELEASE, token.0) else {
        return Ok(());
    };
    let session = Arc::new(session.clone());
    database
        .write(RELEASE, Repeat::Safe, move |database| {
            let session = Arc::clone(&session);
            async move {
                let mut transaction = database.begin().await?;
                sqlx::query(sql::leases::RELEASE)
                    .bind(session.as_str())
                    .bind(token)
                    .execute(&mut *transaction)
                    .await?;
                Ok(transaction.commit().await?)
            }
        })
        .await
}
