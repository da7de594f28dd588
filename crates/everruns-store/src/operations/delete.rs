use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, StoreError};

use crate::attempt::{Fault, Repeat};
use crate::driver::{Changes as _, Driver, Statement, read};
use crate::rows::LeaseRow;
use crate::rules;
use crate::sql;

pub(crate) async fn delete<D: Driver>(
    database: &Arc<D>,
    session: &SessionId,
    token: Option<FencingToken>,
) -> Result<(), StoreError> {
    let session = Arc::new(session.clone());
    database
        .write("delete a session", Repeat::Unsafe, move |database| {
            let session = Arc::clone(&session);
            async move { delete_once(&*database, &session, token).await }
        })
        .await
}

async fn delete_once<D: Driver>(
    database: &D,
    session: &SessionId,
    token: Option<FencingToken>,
) -> Result<(), Fault> {
    let mut changes = database.begin().await?;
    D::lock_session(&mut changes, session).await?;
    let of_session = |text| Statement::new(text).bind(session.as_str());
    let row: Option<LeaseRow> = changes.first(of_session(sql::leases::OF_SESSION)).await?;
    rules::check_deletable(session, row, token)?;
    changes.run(of_session(sql::sessions::DELETE)).await?;
    changes.run(of_session(sql::leases::LEAVE)).await?;
    hit("store.delete.before-commit")?;
    changes.commit().await?;
    hit("store.delete.after-commit")?;
    Ok(())
}

/// The lease's row of an id outlives its session.
pub(crate) async fn is_deleted<D: Driver>(
    database: &D,
    session: &SessionId,
) -> Result<bool, StoreError> {
    let statement = Statement::new(sql::leases::OF_DELETED).bind(session.as_str());
    let left: Vec<(i64,)> = read(database, "look for a deleted session", &statement).await?;
    Ok(!left.is_empty())
}
