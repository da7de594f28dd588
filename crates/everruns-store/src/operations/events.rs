use everruns_core::ids::SessionId;
use everruns_core::session::{EventPage, EventQuery, PageDirection, StoreError};

use crate::driver::{Driver, Statement, read};
use crate::rows::EventRow;
use crate::rules::EventWindow;
use crate::sql;

const OPERATION: &str = "read events";

pub(crate) async fn page<D: Driver>(
    database: &D,
    session: &SessionId,
    query: EventQuery,
) -> Result<EventPage, StoreError> {
    let window = EventWindow::new(query);
    let text = match window.direction {
        PageDirection::Forward => sql::events::FORWARD,
        PageDirection::Backward => sql::events::BACKWARD,
    };
    let statement = Statement::new(text)
        .bind(session.as_str())
        .bind(window.from)
        .bind(window.fetch);
    let rows: Vec<EventRow> = read(database, OPERATION, &statement).await?;
    if rows.is_empty() {
        // No events, or no session: only the second is an error.
        let statement = Statement::new(sql::sessions::UPDATED_AT).bind(session.as_str());
        let present: Vec<(i64,)> = read(database, OPERATION, &statement).await?;
        if present.is_empty() {
            return Err(StoreError::NotFound {
                session: session.clone(),
            });
        }
    }
    window.page(session, rows)
}
