use std::sync::Arc;

use everruns_core::failpoint;
use everruns_core::session::EventPayload;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::journal::{Journal, JournalState, RunningTurn};
use super::{Active, PendingTurn, SessionCore, SessionError, repair};
use crate::turn;

/// Records the user's message and begins a turn, or steers the one that runs.
pub(super) async fn send(
    core: &Arc<SessionCore>,
    active: Arc<Active>,
    text: String,
) -> Result<PendingTurn, SessionError> {
    if text.trim().is_empty() {
        return Err(SessionError::EmptyMessage);
    }
    let journal = &core.journal;
    let mut taken_back = false;
    let mut head = None;
    let (mut state, number, head) = loop {
        let mut state = journal.lock().await;
        if state.running.is_none() {
            drop(state);
            state = journal.hold().await?;
        }
        if let Some(running) = state.running.clone() {
            let message = EventPayload::UserMessage { text };
            journal.append(&mut state, vec![message]).await?;
            return Ok(PendingTurn::new(running.number, running.report));
        }
        active.held(&state);
        let begun = match head.take() {
            Some(head) if state.conversation.intent().is_none() => {
                let begun = begin(journal, &active, &mut state, &text).await;
                begun.map(|number| Some((number, head)))
            }
            // What was begun between turns may bring files back, which nobody can while the head is held.
            held => {
                drop(held);
                let finished = repair::finish_intent(journal, &active, &mut state).await;
                finished.map(|()| None)
            }
        };
        match begun {
            Ok(Some((number, head))) => break (state, number, head),
            Ok(None) => {
                // The backend may have to wait, or to make up for what a killed process left.
                drop(state);
                let held = active.environment.workspace_head().hold(&core.id).await;
                head = Some(held.map_err(SessionError::from_workspace)?);
            }
            // The lease ran out while this handle was idle, and another process had its turn: this one is next.
            Err(SessionError::TakenOver { .. }) if !taken_back => taken_back = true,
            Err(error) => return Err(error),
        }
    };
    failpoint::hit("engine.turn.after-user-message")?;

    let (report, waiting) = watch::channel(None);
    let running = RunningTurn {
        number,
        report: waiting.clone(),
        cancellation: CancellationToken::new(),
    };
    state.running = Some(running.clone());
    state.head = Some(head);
    drop(state);
    let task = turn::run(Arc::clone(core), active, running, report);
    drop(tokio::spawn(task));
    Ok(PendingTurn::new(number, waiting))
}

/// Records the message and the beginning of a turn, after closing one whose process is gone. Gives its number.
async fn begin(
    journal: &Journal,
    active: &Active,
    state: &mut JournalState,
    text: &str,
) -> Result<u64, SessionError> {
    let mut events = repair::closing(journal, active, state).await;
    let number = state.conversation.turns() + 1;
    let text = text.to_owned();
    events.push(EventPayload::UserMessage { text });
    events.push(EventPayload::TurnStarted { turn: number });
    journal.append(state, events).await?;
    Ok(number)
}
