use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    EventPage, EventQuery, PageDirection, Sequence, SessionCursor, SessionEvent, SessionPage,
    SessionQuery, SessionRecord, SessionState, StoreError,
};

use crate::rows::{EventRow, SessionRow};

/// No page holds more, whatever was asked for, so that one call cannot fill the memory.
const MAX_PAGE: u32 = 10_000;

/// Greater than every character of an id.
const AFTER_IDS: &str = "\u{7f}";

fn page_size(limit: u32) -> usize {
    // `MAX_PAGE` fits into every `usize` there is.
    usize::try_from(limit.clamp(1, MAX_PAGE)).unwrap_or(usize::MAX)
}

/// One more than the page holds, to learn whether it is the last.
fn rows_to_fetch(limit: u32) -> i64 {
    i64::from(limit.clamp(1, MAX_PAGE)) + 1
}

/// Which rows of `events` answer a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventWindow {
    pub(crate) direction: PageDirection,
    /// Exclusive.
    pub(crate) from: i64,
    pub(crate) fetch: i64,
    size: usize,
}

impl EventWindow {
    pub(crate) fn new(query: EventQuery) -> Self {
        let end = match query.direction {
            PageDirection::Forward => 0,
            PageDirection::Backward => i64::MAX,
        };
        let from = query.from.map_or(end, |sequence| {
            i64::try_from(sequence.0).unwrap_or(i64::MAX)
        });
        Self {
            direction: query.direction,
            from,
            fetch: rows_to_fetch(query.limit),
            size: page_size(query.limit),
        }
    }

    /// The page that `rows` make.
    ///
    /// Places have no gaps, so a gap means that something other than the store removed events.
    pub(crate) fn page(
        self,
        session: &SessionId,
        rows: Vec<EventRow>,
    ) -> Result<EventPage, StoreError> {
        let more = rows.len() > self.size;
        let events = rows
            .into_iter()
            .take(self.size)
            .map(|row| row.into_event(session))
            .collect::<Result<Vec<SessionEvent>, _>>()?;
        let gap = events
            .windows(2)
            .find(|pair| pair[0].sequence.0.abs_diff(pair[1].sequence.0) != 1);
        if let Some(pair) = gap {
            return Err(StoreError::CorruptRecord {
                session: session.clone(),
                reason: format!(
                    "events are missing between {} and {}",
                    pair[0].sequence, pair[1].sequence
                ),
            });
        }
        let next: Option<Sequence> = events.last().filter(|_| more).map(|event| event.sequence);
        Ok(EventPage { events, next })
    }
}

/// Which rows of `sessions` answer a query.
#[derive(Clone, Debug)]
pub(crate) struct SessionWindow {
    /// The place before which the page begins: `updated_at` and `id`.
    pub(crate) before: (i64, String),
    /// The first id that matches.
    pub(crate) first_id: String,
    /// After the last id that matches.
    pub(crate) end_id: String,
    pub(crate) workspace: Option<String>,
    pub(crate) head: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) updated_since: Option<i64>,
    pub(crate) state: Option<&'static str>,
    pub(crate) state_at: Option<i64>,
    pub(crate) fetch: i64,
    size: usize,
}

impl SessionWindow {
    /// `None` when no session can match.
    pub(crate) fn new(query: &SessionQuery) -> Option<Self> {
        let prefix = query.id_prefix.clone().unwrap_or_default();
        if !prefix.is_empty() && SessionId::new(prefix.clone()).is_err() {
            return None;
        }
        let (state, state_at) = match query.state {
            None => (None, None),
            Some(SessionState::Unbound) => (Some("unbound"), None),
            Some(SessionState::Idle { at }) => (Some("idle"), Some(at.as_millis())),
            Some(SessionState::Executing { at }) => (Some("executing"), Some(at.as_millis())),
            // A state that is not known here has no sessions.
            Some(_) => return None,
        };
        let before = query.after.as_ref().map_or_else(
            || (i64::MAX, AFTER_IDS.to_owned()),
            |place| {
                (
                    place.updated_at().as_millis(),
                    place.id().as_str().to_owned(),
                )
            },
        );
        Some(Self {
            before,
            end_id: format!("{prefix}{AFTER_IDS}"),
            first_id: prefix,
            workspace: query.workspace.as_ref().map(|id| id.as_str().to_owned()),
            head: query.head.as_ref().map(|id| id.as_str().to_owned()),
            title: query.title.clone(),
            agent: query.agent.clone(),
            updated_since: query.updated_since.map(Timestamp::as_millis),
            state,
            state_at,
            fetch: rows_to_fetch(query.limit),
            size: page_size(query.limit),
        })
    }

    /// The page that `rows` make.
    pub(crate) fn page(&self, rows: Vec<SessionRow>) -> Result<SessionPage, StoreError> {
        let more = rows.len() > self.size;
        let sessions = rows
            .into_iter()
            .take(self.size)
            .map(SessionRow::into_record)
            .collect::<Result<Vec<SessionRecord>, _>>()?;
        let next = sessions.last().filter(|_| more).map(SessionCursor::behind);
        Ok(SessionPage { sessions, next })
    }
}
