use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::session::{NewSession, Sequence, SessionRecord, StoreError};

use super::database::Database;
use crate::attempt::Repeat;
use crate::sql;

const CREATE: &str = "record a session";
const SET_TITLE: &str = "change a title";

pub(super) async fn create(
    database: &Arc<Database>,
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
                let mut transaction = database.begin().await?;
                let inserted = sqlx::query(sql::sessions::INSERT)
                    .bind(session.id.as_str())
                    .bind(session.title.as_deref())
                    .bind(agent)
                    .bind(session.created_at.as_millis())
                    .execute(&mut *transaction)
                    .await?;
                if inserted.rows_affected() == 0 {
                    return Err(StoreError::AlreadyExists {
                        session: session.id.clone(),
                    }
                    .into());
                }
                transaction.commit().await?;
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

pub(super) async fn set_title(
    database: &Arc<Database>,
    session: &SessionId,
    title: &str,
) -> Result<(), StoreError> {
    let work = Arc::new((session.clone(), title.to_owned()));
    database
        .write(SET_TITLE, Repeat::Safe, move |database| {
            let work = Arc::clone(&work);
            async move {
                let (session, title) = &*work;
                let mut transaction = database.begin().await?;
                let changed = sqlx::query(sql::sessions::SET_TITLE)
                    .bind(session.as_str())
                    .bind(title)
                    .execute(&mut *transaction)
                    .await?;
                if changed.rows_affected() == 0 {
                    return Err(StoreError::NotFound {
                        session: session.clone(),
                    }
                    .into());
                }
                Ok(transaction.commit().await?)
            }
        })
        .await
}
