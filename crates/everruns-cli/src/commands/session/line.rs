//! An event in one line.

use everruns::session::{EventPayload, SessionEvent};

use super::text::{tool_outcome, turn_outcome};
use crate::output::shown;
use crate::progress::arguments;
use crate::times;

/// The most that is shown of what somebody says, in characters.
const LENGTH: usize = 100;

/// The event's number, its time and what happened.
pub(super) fn of(event: &SessionEvent) -> String {
    format!(
        "{:>6}  {}  {}",
        event.sequence.0,
        times::shown(event.at),
        happened(&event.payload)
    )
}

fn happened(payload: &EventPayload) -> String {
    match payload {
        EventPayload::SessionStarted { agent } => format!("started with {}", shown(&agent.model)),
        EventPayload::SessionResumed { agent } => format!("resumed with {}", shown(&agent.model)),
        EventPayload::UserMessage { text } => format!("you: {}", short(text, LENGTH)),
        EventPayload::TurnStarted { turn } => format!("turn {turn} began"),
        EventPayload::AssistantMessage {
            text, tool_calls, ..
        } => {
            let calls = tool_calls
                .iter()
                .map(|call| format!("→ {} {}", shown(&call.name), arguments(&call.arguments)));
            let said = (!text.is_empty()).then(|| short(text, LENGTH));
            let parts: Vec<String> = said.into_iter().chain(calls).collect();
            format!("agent: {}", parts.join("  "))
        }
        EventPayload::ToolResult { tool, outcome, .. } => {
            format!("← {} {}", shown(tool), tool_outcome(*outcome))
        }
        EventPayload::TurnEnded { turn, outcome } => {
            format!("turn {turn} {}", turn_outcome(outcome))
        }
        EventPayload::CheckpointTaken { checkpoint, .. } => match &checkpoint.location {
            Some(location) => format!("files kept in {}", shown(location)),
            None => format!("files are those of {}", shown(&checkpoint.revision)),
        },
        EventPayload::CheckpointMissed { reason, .. } => {
            format!("files not kept: {}", short(reason, LENGTH))
        }
        EventPayload::RewindBegun { to, .. } => format!("going back to event {to}"),
        EventPayload::Rewound { to, .. } => format!("went back to event {to}"),
        EventPayload::RewindFailed { to, reason } => {
            format!("did not go back to event {to}: {}", short(reason, LENGTH))
        }
        EventPayload::ForkBegun { session, .. } => format!("forking into session {session}"),
        EventPayload::ForkEnded {
            session,
            made: true,
        } => format!("forked into session {session}"),
        EventPayload::ForkEnded { session, .. } => format!("session {session} was not made"),
        EventPayload::Forked { from } => format!("forked from session {from}"),
        _ => "something that a later version knows".to_owned(),
    }
}

/// The beginning of a text, in one line.
pub(super) fn short(text: &str, length: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    let mut characters = joined.chars();
    let start: String = characters.by_ref().take(length).collect();
    if characters.next().is_some() {
        format!("{}…", shown(&start))
    } else {
        shown(&start)
    }
}
