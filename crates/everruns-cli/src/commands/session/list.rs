//! `everruns session list`

use std::fmt::Write as _;

use everruns::Engine;
use everruns::session::{SessionCursor, SessionCursorError, SessionPage, SessionQuery};

use super::find::find;
use super::names::HeadNames;
use super::text;
use crate::args::ListArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::repository;
use crate::state::StateFolder;
use crate::table::{WHOLE, table};

/// How many sessions are read at a time when only some of them are wanted.
const PAGE: u32 = 500;

pub(super) async fn list(
    state: &StateFolder,
    engine: &Engine,
    output: Output,
    args: ListArgs,
) -> Result<(), Failure> {
    let filtered = args.title.is_some() || args.repo.is_some() || args.after.is_some();
    let page = page(state, engine, args).await?;
    let mut names = HeadNames::new(state);
    if !output.json {
        names.learn(&page.sessions).await;
    }
    output.show(&page, || {
        if page.sessions.is_empty() {
            return if filtered {
                "there are no such sessions; `everruns session list` shows all".to_owned()
            } else {
                "there are no sessions; `everruns run \"TASK\"` makes one".to_owned()
            };
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
        if let Some(place) = &page.next {
            let _ = writeln!(
                text,
                "there are more; show them with `--limit N`, or with `--after {place}`"
            );
        }
        text
    })
}

/// The sessions asked for. What the store cannot choose by is chosen here, page after page.
async fn page(
    state: &StateFolder,
    engine: &Engine,
    args: ListArgs,
) -> Result<SessionPage, Failure> {
    let title = args.title.map(|title| title.to_lowercase());
    let mut query = SessionQuery {
        limit: if title.is_some() { PAGE } else { args.limit },
        ..SessionQuery::default()
    };
    if let Some(after) = &args.after {
        query.after = Some(match after.parse() {
            Ok(place) => place,
            Err(SessionCursorError::Malformed { .. }) => {
                SessionCursor::behind(&find(engine, after).await?)
            }
            Err(error) => return Err(Failure::new(error.to_string())),
        });
    }
    if let Some(repo) = &args.repo {
        query.workspace = Some(repository::open(state, repo).await?.id().clone());
    }
    let Some(title) = title else {
        return Ok(engine.sessions(query).await?);
    };
    let wanted = usize::try_from(args.limit.max(1)).unwrap_or(usize::MAX);
    let mut chosen = SessionPage::default();
    loop {
        let page = engine.sessions(query.clone()).await?;
        for record in page.sessions {
            let has = record.title.as_ref();
            if !has.is_some_and(|has| has.to_lowercase().contains(&title)) {
                continue;
            }
            if chosen.sessions.len() == wanted {
                chosen.next = chosen.sessions.last().map(SessionCursor::behind);
                return Ok(chosen);
            }
            chosen.sessions.push(record);
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(chosen),
        }
    }
}
