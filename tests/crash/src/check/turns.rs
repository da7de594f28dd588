use anyhow::{Context as _, ensure};
use everruns::session::{EventPayload, SessionEvent};

/// Turns follow each other, every call has one result, and every turn has ended.
pub(super) fn check(events: &[SessionEvent]) -> anyhow::Result<()> {
    let mut open = None;
    let mut last = 0;
    let mut calls: Vec<&str> = Vec::new();
    for event in events {
        match &event.payload {
            EventPayload::TurnStarted { turn } => {
                ensure!(
                    open.is_none() && *turn == last + 1,
                    "turn {turn} begins after {last}"
                );
                (open, last) = (Some(*turn), *turn);
            }
            EventPayload::AssistantMessage { tool_calls, .. } => {
                ensure!(calls.is_empty(), "calls without results: {calls:?}");
                calls.extend(tool_calls.iter().map(|call| call.id.as_str()));
            }
            EventPayload::ToolResult { call_id, .. } => {
                let place = calls.iter().position(|id| id == call_id);
                calls.remove(
                    place.with_context(|| format!("a result without its call: {call_id}"))?,
                );
            }
            EventPayload::TurnEnded { turn, .. } => {
                ensure!(
                    calls.is_empty(),
                    "turn {turn} ends with open calls: {calls:?}"
                );
                ensure!(
                    open.take() == Some(*turn),
                    "turn {turn} ends, but {open:?} runs"
                );
            }
            _ => {}
        }
    }
    ensure!(open.is_none(), "turn {open:?} has not ended");
    Ok(())
}
