use std::io;
use std::pin::pin;
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendRequest, EventPayload, FencingToken, LeaseOwner, NewSession, Sequence, SessionEvent,
    SessionStore,
};
use futures::{Stream, StreamExt as _};

use super::format::{FORMAT_VERSION, Header, ImportError, Version};
use crate::session::{Holder, Services};

/// Events of one append at most.
const BATCH: usize = 256;
/// And about so many bytes of text, or one event.
const BATCH_BYTES: usize = 1024 * 1024;
/// Nobody waits for the lease: what has no head is not executed, and its deletion finds out whether the process lives.
const TERM: Duration = Duration::from_hours(1);

/// Before the title, or instead of it, while lines are still to come.
const UNFINISHED: &str = "(import not finished)";
/// The title of a whole session that was exported without one.
const UNTITLED: &str = "imported session";

/// Records a session from its lines. Until all of them are recorded, its title says that they aren't; one that comes to no
/// end is removed, unless the store or the process fails at that, too.
pub(crate) async fn import(
    services: &Services,
    lines: impl Stream<Item = io::Result<String>> + Send,
) -> Result<SessionId, ImportError> {
    let mut lines = pin!(lines);
    let header = header(&lines.next().await.transpose()?.unwrap_or_default())?;
    let id = SessionId::generate(services.entropy.as_ref());
    let store = services.store.as_ref();
    let title = header.session.title;
    let session = NewSession {
        id: id.clone(),
        title: Some(match &title {
            Some(title) => format!("{UNFINISHED} {title}"),
            None => UNFINISHED.to_owned(),
        }),
        agent: header.session.agent,
        created_at: header.session.created_at,
    };
    store.create(session).await?;
    let now = services.clock.now();
    // Who deletes what a process that was killed has left sees that it is nobody's.
    let holder = Holder::new(services.entropy.as_ref());
    let mut token = None;
    let filled = async {
        let mut draft = Draft::begin(store, &id, now, holder.owner()).await?;
        token = Some(draft.token);
        while let Some(text) = lines.next().await {
            draft.line(&text?).await?;
        }
        let title = title.as_deref().unwrap_or(UNTITLED);
        draft.end(header.session.last_sequence.0, title).await
    };
    if let Err(error) = filled.await {
        // What cannot be removed has no head and does nothing, and its title says what it is.
        if let Err(error) = store.delete(&id, token).await {
            tracing::warn!(session = %id, %error, "a part of a session that was not imported is left");
        }
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

/// A session that is being recorded, with the events that are not appended yet.
struct Draft<'a> {
    store: &'a dyn SessionStore,
    id: &'a SessionId,
    token: FencingToken,
    appended: Sequence,
    waiting: Vec<SessionEvent>,
    bytes: usize,
    /// The number of the last line.
    line: u64,
}

impl<'a> Draft<'a> {
    async fn begin(
        store: &'a dyn SessionStore,
        id: &'a SessionId,
        now: Timestamp,
        owner: &LeaseOwner,
    ) -> Result<Self, ImportError> {
        let lease = store.acquire_lease(id, owner, now, TERM).await?;
        Ok(Self {
            store,
            id,
            token: lease.token,
            appended: Sequence::START,
            waiting: Vec::new(),
            bytes: 0,
            line: 1,
        })
    }

    async fn line(&mut self, text: &str) -> Result<(), ImportError> {
        self.line += 1;
        let line = self.line;
        let bad = |reason: String| ImportError::BadLine { line, reason };
        let event: SessionEvent =
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if event.payload == EventPayload::Unknown {
            return Err(bad("its type is not known to this program".to_owned()));
        }
        let place = self.last();
        if event.sequence != place.next() {
            return Err(bad(format!("event {} follows {place}", event.sequence)));
        }
        // An append has one time.
        let other = self.waiting.last().is_some_and(|last| last.at != event.at);
        if other || self.waiting.len() >= BATCH || self.bytes + text.len() > BATCH_BYTES {
            self.append().await?;
        }
        self.waiting.push(event);
        self.bytes += text.len();
        Ok(())
    }

    fn last(&self) -> Sequence {
        let last = self.waiting.last();
        last.map_or(self.appended, |last| last.sequence)
    }

    async fn append(&mut self) -> Result<(), ImportError> {
        let Some(first) = self.waiting.first() else {
            return Ok(());
        };
        let expected = self.appended;
        let request = AppendRequest {
            session: self.id.clone(),
            token: self.token,
            expected,
            idempotency_key: format!("import {expected}"),
            at: first.at,
            events: self.waiting.drain(..).map(|event| event.payload).collect(),
        };
        self.bytes = 0;
        self.appended = self.store.append(request).await?.last;
        Ok(())
    }

    async fn end(mut self, expected: u64, title: &str) -> Result<(), ImportError> {
        let found = self.last().0;
        if found != expected {
            return Err(ImportError::Incomplete { expected, found });
        }
        self.append().await?;
        self.store.set_title(self.id, title).await?;
        Ok(self.store.release_lease(self.id, self.token).await?)
    }
}
