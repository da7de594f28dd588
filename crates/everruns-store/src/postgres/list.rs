use everruns_core::ids::SessionId;
use everruns_core::session::{SessionPage, SessionQuery, SessionRecord, StoreError};

use super::database::Database;
use crate::attempt::Fault;
use crate::rows::SessionRow;
use crate::rules::SessionWindow;
use crate::sql;

pub(super) async fn one(
    database: &Database,
    session: &SessionId,
) -> Result<SessionRecord, StoreError> {
    let row: Option<SessionRow> = database
        .read("read a session", || async {
            Ok(sqlx::query_as(sql::sessions::SELECT)
                .bind(session.as_str())
                .fetch_optional(&database.pool)
                .await?)
        })
        .await?;
    row.ok_or_else(|| StoreError::NotFound {
        session: session.clone(),
    })?
    .into_record()
}

pub(super) async fn page(
    database: &Database,
    query: SessionQuery,
) -> Result<SessionPage, StoreError> {
    let Some(window) = SessionWindow::new(&query) else {
        return Ok(SessionPage::default());
    };
    let rows = database
        .read("list sessions", || rows(database, &window))
        .await?;
    window.page(rows)
}

async fn rows(database: &Database, window: &SessionWindow) -> Result<Vec<SessionRow>, Fault> {
    Ok(sqlx::query_as(sql::sessions::LIST_POSTGRES)
        .bind(window.before.0)
        .bind(&window.before.1)
        .bind(&window.first_id)
        .bind(&window.end_id)
        .bind(&window.workspace)
        .bind(&window.head)
        .bind(&window.title)
        .bind(&window.agent)
        .bind(window.updated_since)
        .bind(window.state)
        .bind(window.state_at)
        .bind(window.fetch)
        .fetch_all(&database.pool)
        .await?)
}
