//! Sessions and their events as text.

use std::fmt::Write as _;

use everruns::session::{EventPayload, SessionEvent, SessionRecord, ToolOutcome, TurnOutcome};

use super::names::HeadNames;
use crate::output::{said, shown};
use crate::progress::arguments;
use crate::times;

/// A session as a row of a list.
pub(super) fn row(record: &SessionRecord, names: &HeadNames<'_>) -> [String; 4] {
    let head = match (&record.binding, names.of(record)) {
        (None, _) => "(none: never started)",
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
        (None, _) => "(none: never started)".to_owned(),
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

fn title(record: &SessionRecord) -> String {
    shown(record.title.as_deref().unwrap_or("(no title)"))
}

fn turn_outcome(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Completed => "completed".to_owned(),
        TurnOutcome::LimitReached => "reached its limit of model requests".to_owned(),
        TurnOutcome::Cancelled => "was cancelled".to_owned(),
        TurnOutcome::Failed { reason } => format!("failed: {}", shown(reason)),
        TurnOutcome::Interrupted => "was interrupted: its process ended in the middle".to_owned(),
        _ => "ended in a way that a later version knows".to_owned(),
    }
}

/// One event of a conversation, or nothing where it says nothing to a person.
pub(super) fn event(event: &SessionEvent) -> String {
    let mut text = String::new();
    let _ = match &event.payload {
        EventPayload::SessionStarted { agent } => {
            writeln!(
                text,
                "-- started with {} at {}",
                shown(&agent.model),
                times::shown(event.at)
            )
        }
        EventPayload::SessionResumed { agent } => {
            writeln!(
                text,
                "-- resumed with {} at {}",
                shown(&agent.model),
                times::shown(event.at)
            )
        }
        EventPayload::UserMessage { text: words } => writeln!(text, "\nyou: {}", said(words)),
        EventPayload::AssistantMessage {
            text: words,
            tool_calls,
            ..
        } => {
            if !words.is_empty() {
                let _ = writeln!(text, "agent: {}", said(words));
            }
            tool_calls.iter().try_for_each(|call| {
                writeln!(
                    text,
                    "  → {} {}",
                    shown(&call.name),
                    arguments(&call.arguments)
                )
            })
        }
        EventPayload::ToolResult {
            tool,
            output,
            outcome,
            ..
        } => {
            let lines = match output.lines().count() {
                1 => "1 line".to_owned(),
                count => format!("{count} lines"),
            };
            let outcome = match outcome {
                ToolOutcome::Succeeded => "",
                ToolOutcome::Failed => " failed",
                ToolOutcome::Cancelled => " was cancelled",
                _ => " has an unknown outcome",
            };
            writeln!(text, "  ← {}{outcome} ({lines})", shown(tool))
        }
        EventPayload::TurnEnded { turn, outcome } => {
            writeln!(text, "-- turn {turn} {}", turn_outcome(outcome))
        }
        _ => Ok(()),
    };
    text
}
