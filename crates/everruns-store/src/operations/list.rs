use everruns_core::ids::SessionId;
use everruns_core::session::{SessionPage, SessionQuery, SessionRecord, StoreError};

use crate::driver::{Driver, Statement, read};
use crate::rows::SessionRow;
use crate::rules::SessionWindow;
use crate::sql;

pub(crate) async fn one<D: Driver>(
    database: &D,
    session: &SessionId,
) -> Result<SessionRecord, StoreError> {
    let statement = Statement::new(sql::sessions::SELECT).bind(session.as_str());
    let rows: Vec<SessionRow> = read(database, "read a session", &statement).await?;
    let row = rows.into_iter().next();
    row.ok_or_else(|| StoreError::NotFound {
        session: session.clone(),
    })?
    .into_record()
}

pub(crate) async fn page<D: Driver>(
    database: &D,
    query: SessionQuery,
) -> Result<SessionPage, StoreError> {
    let Some(window) = SessionWindow::new(&query) else {
        return Ok(SessionPage::default());
    };
    window.page(read(database, "list sessions", &statement::<D>(&window)).await?)
}

fn statement<D: Driver>(window: &SessionWindow) -> Statement<'_> {
    Statement::new(D::LIST)
        .bind(window.before.0)
        .bind(window.before.1.as_str())
        .bind(window.first_id.as_str())
        .bind(window.end_id.as_str())
        .bind(window.workspace.as_deref())
        .bind(window.head.as_deref())
        .bind(window.title.as_deref())
        .bind(window.agent.as_deref())
        .bind(window.updated_since)
        .bind(window.state)
        .bind(window.state_at)
        .bind(window.fetch)
}
