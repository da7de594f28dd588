use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::session::{SessionRecord, StoreError};

use super::{bind, create};
use crate::attempt::{Fault, Repeat};
use crate::driver::{Changes as _, Driver, Statement};
use crate::rows::LeaseRow;
use crate::rules::{self, FORK, Fork};
use crate::sql;

pub(crate) async fn fork<D: Driver>(
    database: &Arc<D>,
    fork: Fork,
) -> Result<SessionRecord, StoreError> {
    let fork = Arc::new(fork);
    database
        .write(FORK, Repeat::Unsafe, move |database| {
            let fork = Arc::clone(&fork);
            async move { fork_once(&*database, &fork).await }
        })
        .await
}

async fn fork_once<D: Driver>(database: &D, fork: &Fork) -> Result<SessionRecord, Fault> {
    let (request, id) = (&fork.request, fork.id().as_str());
    let source = request.source.as_str();
    let at = request.session.created_at.as_millis();
    let mut changes = database.begin().await?;
    // So that nobody takes the source over before the session is made.
    D::lock_session(&mut changes, &request.source).await?;
    let statement = Statement::new(sql::sessions::LAST_PLACE).bind(source);
    let last: Option<(i64,)> = changes.first(statement).await?;
    fork.check_source(last.map(|(last,)| last))?;
    let statement = Statement::new(sql::leases::OF_SESSION).bind(source);
    let lease: Option<LeaseRow> = changes.first(statement).await?;
    rules::check_present(&request.source, lease, request.token)?;
    create::insert::<D>(&mut changes, &request.session, &fork.agent).await?;
    bind::insert::<D>(&mut changes, fork.id(), &request.binding).await?;
    let statement = Statement::new(sql::events::COPY)
        .bind(id)
        .bind(source)
        .bind(fork.through);
    changes.run(statement).await?;
    for (seq, payload) in (fork.through + 1..).zip(&fork.payloads) {
        let statement = Statement::new(sql::events::INSERT)
            .bind(id)
            .bind(seq)
            .bind(at)
            .bind(payload.as_str())
            .bind(None::<&str>)
            .bind(None::<i64>);
        changes.run(statement).await?;
    }
    let statement = Statement::new(sql::sessions::NOTE_APPEND)
        .bind(id)
        .bind(fork.last)
        .bind(at)
        .bind(None::<&str>);
    changes.run(statement).await?;
    hit("store.fork.before-commit")?;
    changes.commit().await?;
    hit("store.fork.after-commit")?;
    Ok(fork.record()?)
}
