//! Which session is meant, and what is recorded of it.

use everruns::Engine;
use everruns::session::{EventQuery, Sequence, SessionEvent, SessionQuery, SessionRecord};

use crate::failure::Failure;
use crate::output::shown;

/// How many events are read at a time.
const PAGE: u32 = 500;

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

/// As [`find`], when the session has a head. One that was imported has a conversation, and none.
pub(crate) async fn find_bound(engine: &Engine, wanted: &str) -> Result<SessionRecord, Failure> {
    let record = find(engine, wanted).await?;
    if record.binding.is_none() && record.last_sequence > Sequence::START {
        return Err(Failure::new(format!(
            "session {} was imported: it has no head here, and can only be looked at",
            record.id
        ))
        .hint(format!("`everruns session show {}` prints it", record.id)));
    }
    Ok(record)
}

/// All events of a session.
pub(super) async fn events(
    engine: &Engine,
    record: &SessionRecord,
) -> Result<Vec<SessionEvent>, Failure> {
    let mut events = Vec::new();
    let mut after = Sequence::START;
    loop {
        let query = EventQuery::after(after, PAGE);
        let page = engine.store().events(&record.id, query).await?;
        events.extend(page.events);
        match page.next {
            Some(next) => after = next,
            None => return Ok(events),
        }
    }
}
