//! `everruns session …`

mod names;
mod text;

use everruns::Engine;
use everruns::session::{EventQuery, Sequence, SessionQuery, SessionRecord};
use serde_json::json;

use crate::args::SessionCommand;
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::sessions::Sessions;
use crate::state::StateFolder;
use crate::table::{WHOLE, table};
use names::HeadNames;

/// How many events are read at a time.
const PAGE: u32 = 500;

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    command: SessionCommand,
) -> Result<(), Failure> {
    let sessions = Sessions::open(state).await?;
    let shown = match command {
        SessionCommand::List { limit } => list(state, &sessions, output, limit).await,
        SessionCommand::Show { session } => show(state, &sessions, output, &session).await,
    };
    sessions.close().await;
    shown
}

async fn list(
    state: &StateFolder,
    engine: &Engine,
    output: Output,
    limit: u32,
) -> Result<(), Failure> {
    let page = engine
        .sessions(SessionQuery {
            limit,
            ..SessionQuery::default()
        })
        .await?;
    let mut names = HeadNames::new(state);
    if !output.json {
        names.learn(&page.sessions).await;
    }
    output.show(&page, || {
        if page.sessions.is_empty() {
            return "there are no sessions; `everruns run \"TASK\"` makes one".to_owned();
        }
        let rows: Vec<_> = page
            .sessions
            .iter()
            .map(|record| text::row(record, &names))
            .collect();
        let mut text = table(
            [
                ("SESSION", WHOLE),
                ("CHANGED", WHOLE),
                ("HEAD", 25),
                ("TITLE", WHOLE),
            ],
            &rows,
        );
        if page.next.is_some() {
            text.push_str("there are more; show them with `--limit N`\n");
        }
        text
    })
}

/// The session that the user means: by id, or by its beginning.
pub(crate) async fn find(engine: &Engine, wanted: &str) -> Result<SessionRecord, Failure> {
    if matches!(wanted, "" | "ses_") {
        return Err(
            Failure::new("no session is named").hint("`everruns session list` shows what there is")
        );
    }
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

async fn show(
    state: &StateFolder,
    engine: &Engine,
    output: Output,
    wanted: &str,
) -> Result<(), Failure> {
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
    let mut names = HeadNames::new(state);
    if !output.json {
        names.learn(std::slice::from_ref(&record)).await;
    }
    output.show(&json!({"session": record, "events": events}), || {
        let mut text = text::heading(&record, &names);
        for event in &events {
            text.push_str(&text::event(event));
        }
        text
    })
}
