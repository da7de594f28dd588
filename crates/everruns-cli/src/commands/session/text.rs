//! Sessions and their events as text.

use std::fmt::Write as _;

use everruns::model::ToolCall;
use everruns::session::{
    EventPayload, Sequence, SessionEvent, SessionRecord, ToolOutcome, TurnOutcome,
};

use super::names::HeadNames;
use crate::output::{said, shown};
use crate::progress::arguments;
use crate::times;

/// A session as a row of a list.
pub(super) fn row(record: &SessionRecord, names: &HeadNames<'_>) -> [String; 4] {
    let head = match (&record.binding, names.of(record)) {
        (None, _) => no_head(record),
        (Some(_), Some(name)) => name,
        (Some(binding), None) => binding.head_id.as_str(),
    };
    [
        record.id.to_string(),
        times::shown(record.updated_at),
        head.to_owned(),
        title(record),
    ]
}

/// What a session is, above its conversation.
pub(super) fn heading(record: &SessionRecord, names: &HeadNames<'_>) -> String {
    let head = match (&record.binding, names.of(record)) {
        (None, _) => no_head(record).to_owned(),
        (Some(binding), Some(name)) => format!("{name} ({})", binding.head_id),
        (Some(binding), None) => binding.head_id.to_string(),
    };
    format!(
        "session   {}\ntitle     {}\nhead      {head}\nchanged   {}\n\n",
        record.id,
        title(record),
        times::shown(record.updated_at),
    )
}

/// Why a session has no head: one that has happened, and has none, was recorded elsewhere.
fn no_head(record: &SessionRecord) -> &'static str {
    if record.last_sequence == Sequence::START {
        "(none: never started)"
    } else {
        "(none: imported)"
    }
}

pub(super) fn title(record: &SessionRecord) -> String {
    shown(record.title.as_deref().unwrap_or("(no title)"))
}

pub(super) fn turn_outcome(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Completed => "completed".to_owned(),
        TurnOutcome::LimitReached => "reached its limit of model requests".to_owned(),
        TurnOutcome::Cancelled => "was cancelled".to_owned(),
        TurnOutcome::Failed { reason } => format!("failed: {}", shown(reason)),
        TurnOutcome::Interrupted => {
            "was interrupted: its process ended, or lost its hold of the session, in the middle"
                .to_owned()
        }
        _ => "ended in a way that a later version knows".to_owned(),
    }
}

pub(super) fn tool_outcome(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Succeeded => "succeeded",
        ToolOutcome::Failed => "failed",
        ToolOutcome::Cancelled => "was cancelled",
        _ => "has an unknown outcome",
    }
}

/// One event of a conversation, or nothing where it says nothing to a person. Events that one can go back to have their
/// number.
pub(super) fn event(event: &SessionEvent) -> String {
    let place = event.sequence;
    match &event.payload {
        EventPayload::SessionStarted { agent } => {
            let at = times::shown(event.at);
            format!(
                "-- event {place}: started with {} at {at}\n",
                shown(&agent.model)
            )
        }
        EventPayload::SessionResumed { agent } => {
            let at = times::shown(event.at);
            format!(
                "-- event {place}: resumed with {} at {at}\n",
                shown(&agent.model)
            )
        }
        EventPayload::Forked { from } => format!("-- event {place}: forked from {from}\n"),
        EventPayload::UserMessage { text } => format!("\nyou: {}\n", said(text)),
        EventPayload::AssistantMessage {
            text, tool_calls, ..
        } => answer(text, tool_calls),
        EventPayload::ToolResult {
            tool,
            output,
            outcome,
            ..
        } => result(tool, output, *outcome),
        EventPayload::TurnEnded { turn, outcome } => {
            format!("-- event {place}: turn {turn} {}\n", turn_outcome(outcome))
        }
        EventPayload::CheckpointMissed { reason, .. } => {
            format!("-- the files are not kept: {}\n", shown(reason))
        }
        EventPayload::Rewound { to, .. } => format!(
            "-- event {place}: went back to event {to}; what is between is not part of the conversation any more\n"
        ),
        EventPayload::RewindFailed { to, reason } => {
            format!("-- did not go back to event {to}: {}\n", shown(reason))
        }
        EventPayload::ForkEnded {
            session,
            made: true,
        } => format!("-- forked into {session}\n"),
        _ => String::new(),
    }
}

fn answer(text: &str, tool_calls: &[ToolCall]) -> String {
    let mut answer = String::new();
    if !text.is_empty() {
        let _ = writeln!(answer, "agent: {}", said(text));
    }
    for call in tool_calls {
        let name = shown(&call.name);
        let _ = writeln!(answer, "  → {name} {}", arguments(&call.arguments));
    }
    answer
}

fn result(tool: &str, output: &str, outcome: ToolOutcome) -> String {
    let lines = match output.lines().count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    };
    let outcome = match outcome {
        ToolOutcome::Succeeded => String::new(),
        other => format!(" {}", tool_outcome(other)),
    };
    format!("  ← {}{outcome} ({lines})\n", shown(tool))
}
