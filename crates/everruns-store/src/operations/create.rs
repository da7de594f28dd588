use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::session::{NewSession, Sequence, SessionRecord, StoreError};

use crate::attempt::{Fault, Repeat};
use crate::driver::{Changes as _, Driver, Statement};
use crate::sql;

const CREATE: &str = "record a session";
const SET_TITLE: &str = "change a title";

pub(crate) async fn create<D: Driver>(
    database: &Arc<D>,
    session: NewSession,
) -> Result<SessionRecord, StoreError> {
    let agent = serde_json::to_string(&session.agent).map_err(|error| StoreError::Failed {
        operation: CREATE,
        source: error.into(),
    })?;
    let work = Arc::new((session, agent));
    database
        .write(CREATE, Repeat::Unsafe, move |database| {
            let work = Arc::clone(&work);
            async move {
                let (session, agent) = &*work;
                let mut changes = database.begin().await?;
                insert::<D>(&mut changes, session, agent).await?;
                changes.commit().await?;
                Ok(SessionRecord {
                    id: session.id.clone(),
                    title: session.title.clone(),
                    agent: session.agent.clone(),
                    created_at: session.created_at,
                    updated_at: session.created_at,
                    last_sequence: Sequence::START,
                    binding: None,
                })
            }
        })
        .await
}

/// Adds the session with its agent, which is JSON, unless there is one of its id.
pub(super) async fn insert<D: Driver>(
    changes: &mut D::Changes,
    session: &NewSession,
    agent: &str,
) -> Result<(), Fault> {
    let statement = Statement::new(sql::sessions::INSERT)
        .bind(session.id.as_str())
        .bind(session.title.as_deref())
        .bind(agent)
        .bind(session.created_at.as_millis());
    if changes.run(statement).await? == 0 {
        return Err(StoreError::AlreadyExists {
            session: session.id.clone(),
        }
        .into());
    }
    Ok(())
}

pub(crate) async fn set_title<D: Driver>(
    database: &Arc<D>,
    session: &SessionId,
    title: &str,
) -> Result<(), StoreError> {
    let work = Arc::new((session.clone(), title.to_owned()));
    database
        .write(SET_TITLE, Repeat::Safe, move |database| {
            let work = Arc::clone(&work);
            async move {
                let (session, title) = &*work;
                let mut changes = database.begin().await?;
                let statement = Statement::new(sql::sessions::SET_TITLE)
                    .bind(session.as_str())
                    .bind(title.as_str());
                if changes.run(statement).await? == 0 {
                    return Err(StoreError::NotFound {
                        session: session.clone(),
                    }
                    .into());
                }
                changes.commit().await
            }
        })
        .await
}
