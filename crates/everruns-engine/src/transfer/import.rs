use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendRequest, EventPayload, FencingToken, LeaseOwner, NewSession, Sequence, SessionEvent,
    SessionStore,
};

use super::format::{FORMAT_VERSION, Header, ImportError, Version};
use crate::session::Services;

/// Events of one append at most.
const BATCH: usize = 256;
/// Nobody else knows the session before it is whole.
const TERM: Duration = Duration::from_hours(1);

/// Records a session from its lines, all of it or nothing.
pub(crate) async fn import(
    services: &Services,
    lines: impl IntoIterator<Item = String> + Send,
) -> Result<SessionId, ImportError> {
    let mut lines = lines.into_iter();
    let header = header(&lines.next().unwrap_or_default())?;
    let events = events(lines)?;
    let expected = header.session.last_sequence.0;
    let found = events.len() as u64;
    if found != expected {
        return Err(ImportError::Incomplete { expected, found });
    }
    let id = SessionId::generate(services.entropy.as_ref());
    let store = services.store.as_ref();
    let session = NewSession {
        id: id.clone(),
        title: header.session.title,
        agent: header.session.agent,
        created_at: header.session.created_at,
    };
    store.create(session).await?;
    let now = services.clock.now();
    if let Err(error) = fill(store, &id, now, events).await {
        // It is known to nobody; what cannot be removed has no head and does nothing.
        drop(store.delete(&id, now.plus(TERM)).await);
        return Err(error);
    }
    Ok(id)
}

fn header(line: &str) -> Result<Header, ImportError> {
    let not_an_export = |error: serde_json::Error| ImportError::NotAnExport {
        reason: error.to_string(),
    };
    let version: Version = serde_json::from_str(line).map_err(not_an_export)?;
    if version.everruns_session > FORMAT_VERSION {
        let found = version.everruns_session;
        return Err(ImportError::NewerFormat { found });
    }
    serde_json::from_str(line).map_err(not_an_export)
}

fn events(lines: impl Iterator<Item = String>) -> Result<Vec<SessionEvent>, ImportError> {
    let mut events: Vec<SessionEvent> = Vec::new();
    for (line, text) in (2..).zip(lines) {
        let bad = |reason: String| ImportError::BadLine { line, reason };
        let event: SessionEvent =
            serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if event.payload == EventPayload::Unknown {
            return Err(bad("its type is not known to this program".to_owned()));
        }
        let place = events.last().map_or(Sequence::START, |last| last.sequence);
        if event.sequence != place.next() {
            return Err(bad(format!("event {} follows {place}", event.sequence)));
        }
        events.push(event);
    }
    Ok(events)
}

async fn fill(
    store: &dyn SessionStore,
    id: &SessionId,
    now: Timestamp,
    events: Vec<SessionEvent>,
) -> Result<(), ImportError> {
    let owner = LeaseOwner("import".to_owned());
    let lease = store.acquire_lease(id, &owner, now, TERM).await?;
    let mut expected = Sequence::START;
    // An append has one time.
    for batch in events.chunk_by(|one, other| one.at == other.at) {
        for batch in batch.chunks(BATCH) {
            let request = request(id, lease.token, expected, batch);
            expected = store.append(request).await?.last;
        }
    }
    Ok(store.release_lease(id, lease.token).await?)
}

fn request(
    id: &SessionId,
    token: FencingToken,
    expected: Sequence,
    batch: &[SessionEvent],
) -> AppendRequest {
    AppendRequest {
        session: id.clone(),
        token,
        expected,
        idempotency_key: format!("import {expected}"),
        at: batch.first().map(|event| event.at).unwrap_or_default(),
        events: batch.iter().map(|event| event.payload.clone()).collect(),
    }
}
