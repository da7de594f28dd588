use everruns_core::session::{EventPayload, ToolOutcome, TurnOutcome};

use super::journal::{Journal, JournalState};
use super::{Active, Intent, SessionError, fork, keep, lease, rewind};

/// What the model reads of a call whose outcome was never recorded.
const UNKNOWN_OUTCOME: &str = "The process that ran this call ended, or lost its hold of the session, before the \
     outcome was recorded. It may have taken effect fully, partly or not at all. Check the present state before you repeat it.";

/// The events that close a turn which has begun and whose process is gone; none when all turns have ended.
///
/// Nothing is made up: a call without a result gets one that says that its outcome is unknown, so that every
/// provider accepts the conversation.
pub(super) async fn closing(
    journal: &Journal,
    active: &Active,
    state: &mut JournalState,
) -> Vec<EventPayload> {
    let conversation = &state.conversation;
    let Some(turn) = conversation.open_turn() else {
        return Vec::new();
    };
    let mut events: Vec<EventPayload> = conversation
        .pending()
        .iter()
        .map(|call| EventPayload::ToolResult {
            turn,
            call_id: call.id.clone(),
            tool: call.name.clone(),
            output: UNKNOWN_OUTCOME.to_owned(),
            outcome: ToolOutcome::Unknown,
            data: None,
        })
        .collect();
    let changed = keep::may_have_changed(&active.agent, conversation);
    let head = active.environment.workspace_head();
    let known = conversation.files().clone();
    let own = &active.own_changes;
    let keeping = keep::at_end(&active.agent, head, own, &known, turn, changed);
    events.extend(lease::while_renewed(journal, state, keeping).await);
    events.push(EventPayload::TurnEnded {
        turn,
        outcome: TurnOutcome::Interrupted,
    });
    events
}

/// Finishes or gives up what was begun between turns by a process that is gone.
pub(super) async fn finish_intent(
    journal: &Journal,
    active: &Active,
    state: &mut JournalState,
) -> Result<(), SessionError> {
    let finished = match state.conversation.intent().cloned() {
        None => return Ok(()),
        Some(Intent::Rewind { to, checkpoint }) => {
            let done = rewind::finish(journal, active, state, to, checkpoint).await;
            done.map(drop)
        }
        Some(Intent::Fork(wish)) => fork::recover(journal, active, state, wish).await,
    };
    match finished {
        // It is on record that nothing came of it, which is an end as well.
        Err(error) if state.conversation.intent().is_none() => {
            tracing::warn!(session = %journal.session, %error, "what was interrupted is given up");
            Ok(())
        }
        finished => finished,
    }
}
