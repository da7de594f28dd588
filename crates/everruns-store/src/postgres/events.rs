use everruns_core::ids::SessionId;
use everruns_core::session::{EventPage, EventQuery, PageDirection, StoreError};

use super::database::Database;
use crate::rows::EventRow;
use crate::rules::EventWindow;
use crate::sql;

pub(super) async fn page(
    database: &Database,
    session: &SessionId,
    query: EventQuery,
) -> Result<EventPage, StoreError> {
    let window = EventWindow::new(query);
    let statement = match window.direction {
        PageDirection::Forward => sql::events::FORWARD,
        PageDirection::Backward => sql::events::BACKWARD,
    };
    let rows = database
        .read("read events", || async {
            let rows: Vec<EventRow> = sqlx::query_as(statement)
                .bind(session.as_str())
                .bind(window.from)
                .bind(window.fetch)
                .fetch_all(&database.pool)
                .await?;
            if rows.is_empty() {
                // No events, or no session: only the second is an error.
                sqlx::query(sql::sessions::UPDATED_AT)
                    .bind(session.as_str())
                    .fetch_optional(&database.pool)
                    .await?
                    .ok_or_else(|| StoreError::NotFound {
                        session: session.clone(),
                    })?;
            }
            Ok(rows)
        })
        .await?;
    window.page(session, rows)
}
