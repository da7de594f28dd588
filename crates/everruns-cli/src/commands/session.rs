//! `everruns session …`

use std::fmt::Write as _;

use everruns::Engine;
use everruns::session::{
    EventPayload, EventQuery, Sequence, SessionEvent, SessionQuery, SessionRecord, ToolOutcome,
};
use serde_json::json;

use crate::args::SessionCommand;
use crate::failure::Failure;
use crate::output::{Output, shown, shown_lines};
use crate::state::StateFolder;
use crate::times;

/// How many events are read at a time.
const PAGE: u32 = 500;

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    command: SessionCommand,
) -> Result<(), Failure> {
    let engine = Engine::local(state.path()).await?;
    match command {
        SessionCommand::List { limit } => list(&engine, output, limit).await,
        SessionCommand::Show { session } => show(&engine, output, &session).await,
    }
}

async fn list(engine: &Engine, output: Output, limit: u32) -> Result<(), Failure> {
    let page = engine
        .sessions(SessionQuery {
            limit,
            ..SessionQuery::default()
        })
        .await?;
    output.show(&page, || {
        if page.sessions.is_empty() {
            return "there are no sessions; `everruns run \"TASK\"` makes one".to_owned();
        }
        let mut text: String = page
            .sessions
            .iter()
            .map(|record| list_line(record) + "\n")
            .collect();
        if page.next.is_some() {
            text.push_str("there are more; show them with `--limit N`\n");
        }
        text
    })
}

fn list_line(record: &SessionRecord) -> String {
    let head = record
        .binding
        .as_ref()
        .map_or("(not bound)", |binding| binding.head_id.as_str());
    let title = record.title.as_deref().unwrap_or("(no title)");
    format!(
        "{} {} {head} {}",
        record.id,
        times::shown(record.updated_at),
        shown(title)
    )
}

/// The session that the user means: by id, or by its beginning.
pub(crate) async fn find(engine: &Engine, wanted: &str) -> Result<SessionRecord, Failure> {
    let prefix = if wanted.starts_with("ses_") {
        wanted.to_owned()
    } else {
        format!("ses_{wanted}")
    };
    let query = SessionQuery {
        id_prefix: Some(prefix),
        limit: 2,
        ..SessionQuery::default()
    };
    let mut found = engine.sessions(query).await?.sessions.into_iter();
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(first), Some(_)) if first.id.as_str() == wanted => Ok(first),
        (Some(_), Some(_)) => Err(Failure::new(format!(
            "more than one session's id begins with `{}`",
            shown(wanted)
        ))
        .hint("give more of the id; `everruns session list` shows them")),
        (None, _) => Err(
            Failure::new(format!("there is no session `{}`", shown(wanted)))
                .hint("`everruns session list` shows what there is")
                .hint("another state folder is chosen with `--state DIR` or EVERRUNS_STATE"),
        ),
    }
}

async fn show(engine: &Engine, output: Output, wanted: &str) -> Result<(), Failure> {
    let record = find(engine, wanted).await?;
    let mut events = Vec::new();
    let mut after = Sequence::START;
    loop {
        let page = engine
            .store()
            .events(&record.id, EventQuery::after(after, PAGE))
            .await?;
        events.extend(page.events);
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    output.show(&json!({"session": record, "events": events}), || {
        let mut text = list_line(&record) + "\n";
        for event in &events {
            text.push_str(&event_text(event));
        }
        text
    })
}

fn event_text(event: &SessionEvent) -> String {
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
        EventPayload::UserMessage { text: said } => writeln!(text, "\nyou: {}", shown_lines(said)),
        EventPayload::AssistantMessage {
            text: said,
            tool_calls,
            ..
        } => {
            if !said.is_empty() {
                let _ = writeln!(text, "agent: {}", shown_lines(said));
            }
            tool_calls.iter().try_for_each(|call| {
                writeln!(
                    text,
                    "  → {} {}",
                    shown(&call.name),
                    shown(&call.arguments.to_string())
                )
            })
        }
        EventPayload::ToolResult {
            tool,
            output,
            outcome,
            ..
        } => {
            let lines = output.lines().count();
            let outcome = match outcome {
                ToolOutcome::Succeeded => "",
                ToolOutcome::Failed => " failed",
                ToolOutcome::Cancelled => " was cancelled",
                _ => " has an unknown outcome",
            };
            writeln!(text, "  ← {}{outcome} ({lines} lines)", shown(tool))
        }
        EventPayload::TurnEnded { turn, outcome } => {
            writeln!(text, "-- turn {turn} ended: {outcome:?}")
        }
        _ => Ok(()),
    };
    text
}
