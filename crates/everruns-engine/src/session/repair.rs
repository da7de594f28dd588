use everruns_core::session::{EventPayload, ToolOutcome, TurnOutcome};

use super::conversation::Conversation;

/// What the model reads of a call whose outcome was never recorded.
const UNKNOWN_OUTCOME: &str = "The process ended before the outcome of this call was recorded. It may have taken \
     effect fully, partly or not at all. Check the present state before you repeat it.";

/// The events that close a turn which has begun and whose process is gone; none when all turns have ended.
///
/// Nothing is made up: a call without a result gets one that says that its outcome is unknown, so that every
/// provider accepts the conversation.
pub(super) fn closing(conversation: &Conversation) -> Vec<EventPayload> {
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
        })
        .collect();
    events.push(EventPayload::TurnEnded {
        turn,
        outcome: TurnOutcome::Interrupted,
    });
    events
}
