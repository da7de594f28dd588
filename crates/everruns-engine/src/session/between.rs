use std::sync::Arc;

use tokio::sync::MutexGuard;

use super::journal::{Journal, JournalState};
use super::{Active, SessionError, repair};

/// The state with the lease held, between two turns, with nothing left half done and the whole conversation.
pub(super) async fn hold<'a>(
    journal: &'a Arc<Journal>,
    active: &Active,
) -> Result<MutexGuard<'a, JournalState>, SessionError> {
    let mut state = journal.hold().await?;
    if let Some(running) = &state.running {
        return Err(SessionError::TurnRunning {
            session: journal.session.clone(),
            turn: running.number,
        });
    }
    active.held(&state);
    repair::finish_intent(journal, active, &mut state).await?;
    let events = repair::closing(journal, active, &mut state).await;
    if !events.is_empty() {
        journal.append(&mut state, events).await?;
    }
    journal.complete(&mut state).await?;
    Ok(state)
}
