use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{Sequence, SessionEvent, StoreError};

use super::from_stored;

/// An event.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct EventRow {
    seq: i64,
    at: i64,
    payload: String,
}

impl EventRow {
    pub(crate) fn into_event(self, session: &SessionId) -> Result<SessionEvent, StoreError> {
        let payload =
            serde_json::from_str(&self.payload).map_err(|error| StoreError::CorruptRecord {
                session: session.clone(),
                reason: format!("event {}: {error}", self.seq),
            })?;
        Ok(SessionEvent {
            sequence: Sequence(from_stored(session, "seq", self.seq)?),
            at: Timestamp::from_millis(self.at),
            payload,
        })
    }
}

/// What an append has to know of its session.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct AppendRow {
    pub(crate) last_seq: i64,
    pub(crate) token: Option<i64>,
    pub(crate) owner: Option<String>,
    /// The place of the first event that was appended with the same key.
    pub(crate) applied_first: Option<i64>,
    /// The place of the last one.
    pub(crate) applied_last: Option<i64>,
}

/// What one append of a group has to know.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct PlacedRow {
    /// The append's place in the group, from 0.
    place: i64,
    #[sqlx(flatten)]
    row: AppendRow,
}

impl PlacedRow {
    /// The rows by place, for so many appends; nothing for one whose session is not recorded.
    pub(crate) fn in_order(rows: Vec<Self>, count: usize) -> Vec<Option<AppendRow>> {
        let mut ordered = Vec::new();
        ordered.resize_with(count, || None);
        for Self { place, row } in rows {
            let place = usize::try_from(place).ok();
            if let Some(state) = place.and_then(|place| ordered.get_mut(place)) {
                *state = Some(row);
            }
        }
        ordered
    }
}

/// A lease; `owner` and `expires_at` are null when nobody holds it, `token` too when nobody ever did.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct LeaseRow {
    pub(crate) token: Option<i64>,
    pub(crate) owner: Option<String>,
    pub(crate) expires_at: Option<i64>,
}
