//! A session taken up for something that needs no model.

use std::sync::Arc;

use everruns::session::SessionRecord;
use everruns::{Session, WorkspaceHead};

use crate::agents::caretaker;
use crate::failure::Failure;
use crate::repository;
use crate::sessions::Sessions;
use crate::state::StateFolder;

/// A session that this process holds, and its head.
pub(super) struct Held {
    pub(super) session: Session,
    pub(super) head: WorkspaceHead,
}

/// Takes the session up, as `resume` does.
pub(super) async fn hold(
    state: &StateFolder,
    sessions: &Sessions,
    record: &SessionRecord,
) -> Result<Held, Failure> {
    let backend = repository::backend(state).await?;
    let agent = caretaker(record, Arc::clone(&backend))?;
    sessions.attach(record.id.clone(), agent);
    let session = sessions.resume(&record.id).await?;
    match session.workspace_head() {
        Some(head) => Ok(Held { session, head }),
        None => Err(Failure::new(format!(
            "session {} came back without its head",
            record.id
        ))),
    }
}
