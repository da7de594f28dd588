//! Leases: committed, but not flushed. A failure of the server loses at most those under which nothing was recorded yet;
//! what is appended under one brings it to the disk. Their holders may live on, so that tokens follow the server's clock:
//! one that was lost is not given again.

use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, Lease, StoreError};

use super::database::Database;
use super::lock::lock_session;
use crate::attempt::{Fault, Repeat};
use crate::rows::{LeaseRow, to_stored};
use crate::rules::Claim;
use crate::sql;

const ACQUIRE: &str = "take a lease";
const RELEASE: &str = "give up a lease";

/// Microseconds since the epoch.
const CLOCK: &str = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint";

pub(super) async fn acquire(database: &Arc<Database>, claim: Claim) -> Result<Lease, StoreError> {
    let claim = Arc::new(claim);
    database
        .write(ACQUIRE, Repeat::Safe, move |database| {
            let claim = Arc::clone(&claim);
            async move { acquire_once(&database, &claim).await }
        })
        .await
}

async fn acquire_once(database: &Database, claim: &Claim) -> Result<Lease, Fault> {
    let mut transaction = database.begin_unflushed().await?;
    lock_session(&mut transaction, &claim.session).await?;
    let row: Option<LeaseRow> = sqlx::query_as(sql::leases::OF_SESSION)
        .bind(claim.session.as_str())
        .fetch_optional(&mut *transaction)
        .await?;
    let clock: i64 = sqlx::query_scalar(CLOCK)
        .fetch_one(&mut *transaction)
        .await?;
    let lease = claim.judge(row, u64::try_from(clock).unwrap_or(0))?;
    sqlx::query(sql::leases::PUT)
        .bind(claim.session.as_str())
        .bind(to_stored(ACQUIRE, lease.token.0)?)
        .bind(&lease.owner.0)
        .bind(lease.expires_at.as_millis())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(lease)
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
                let mut transaction = database.begin_unflushed().await?;
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
