//! Leases: committed, but not flushed. A failure of the host or server loses at most those under which nothing was
//! recorded yet; what is appended under one brings it to the disk.

use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, Lease, StoreError};

use crate::attempt::{Fault, Repeat};
use crate::driver::{Changes as _, Driver, Statement};
use crate::rows::{LeaseRow, to_stored};
use crate::rules::Claim;
use crate::sql;

const ACQUIRE: &str = "take a lease";
const RELEASE: &str = "give up a lease";

pub(crate) async fn acquire<D: Driver>(
    database: &Arc<D>,
    claim: Claim,
) -> Result<Lease, StoreError> {
    let claim = Arc::new(claim);
    database
        .write_within(
            database.patience(),
            ACQUIRE,
            Repeat::Safe,
            move |database| {
                let claim = Arc::clone(&claim);
                async move { acquire_once(&*database, &claim).await }
            },
        )
        .await
}

async fn acquire_once<D: Driver>(database: &D, claim: &Claim) -> Result<Lease, Fault> {
    let mut changes = database.begin_unflushed().await?;
    D::lock_session(&mut changes, &claim.session).await?;
    let statement = Statement::new(sql::leases::OF_SESSION).bind(claim.session.as_str());
    let row: Option<LeaseRow> = changes.first(statement).await?;
    let lease = claim.judge(row, D::least_token(&mut changes).await?)?;
    let statement = Statement::new(sql::leases::PUT)
        .bind(claim.session.as_str())
        .bind(to_stored(ACQUIRE, lease.token.0)?)
        .bind(lease.owner.0.as_str())
        .bind(lease.expires_at.as_millis());
    changes.run(statement).await?;
    changes.commit().await?;
    Ok(lease)
}

pub(crate) async fn release<D: Driver>(
    database: &Arc<D>,
    session: &SessionId,
    token: FencingToken,
) -> Result<(), StoreError> {
    // A token that cannot be stored was never given.
    let Ok(token) = to_stored(RELEASE, token.0) else {
        return Ok(());
    };
    let session = Arc::new(session.clone());
    database
        .write_within(
            database.patience(),
            RELEASE,
            Repeat::Safe,
            move |database| {
                let session = Arc::clone(&session);
                async move {
                    let mut changes = database.begin_unflushed().await?;
                    let statement = Statement::new(sql::leases::RELEASE)
                        .bind(session.as_str())
                        .bind(token);
                    changes.run(statement).await?;
                    changes.commit().await
                }
            },
        )
        .await
}
