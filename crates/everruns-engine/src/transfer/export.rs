use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everruns_core::ids::SessionId;
use everruns_core::session::{
    EventQuery, Sequence, SessionEvent, SessionRecord, SessionStore, StoreError,
};
use futures::stream::{self, BoxStream, Stream};
use serde::Serialize;

use super::format::{FORMAT_VERSION, Header};

/// Events that one read of the store gives.
const PAGE: u32 = 256;

/// The lines of an exported session, without their ends. Reads page after page: a long session costs no memory.
#[must_use = "streams do nothing unless polled"]
pub struct SessionExport {
    inner: BoxStream<'static, Result<String, StoreError>>,
}

struct Reader {
    store: Arc<dyn SessionStore>,
    session: SessionId,
    /// None before the first line.
    record: Option<SessionRecord>,
    position: Sequence,
    page: VecDeque<SessionEvent>,
    failed: bool,
}

impl SessionExport {
    pub(crate) fn new(store: Arc<dyn SessionStore>, session: SessionId) -> Self {
        let reader = Reader {
            store,
            session,
            record: None,
            position: Sequence::START,
            page: VecDeque::new(),
            failed: false,
        };
        Self {
            inner: Box::pin(stream::unfold(reader, |mut reader| async move {
                let line = reader.line().await.transpose()?;
                reader.failed = line.is_err();
                Some((line, reader))
            })),
        }
    }
}

impl Reader {
    /// The next line. What is recorded after the first one was read is left out.
    async fn line(&mut self) -> Result<Option<String>, StoreError> {
        if self.failed {
            return Ok(None);
        }
        let Some(record) = &self.record else {
            let record = self.store.session(&self.session).await?;
            let line = text(&Header {
                everruns_session: FORMAT_VERSION,
                session: record.clone(),
            })?;
            self.record = Some(record);
            return Ok(Some(line));
        };
        if self.position >= record.last_sequence {
            return Ok(None);
        }
        if self.page.is_empty() {
            let query = EventQuery::after(self.position, PAGE);
            let page = self.store.events(&self.session, query).await?;
            self.page = page.events.into();
        }
        let Some(event) = self.page.pop_front() else {
            return Err(StoreError::CorruptRecord {
                session: self.session.clone(),
                reason: format!("the events after {} are missing", self.position),
            });
        };
        self.position = event.sequence;
        text(&event).map(Some)
    }
}

fn text(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed {
        operation: "export a session",
        source: error.into(),
    })
}

impl Stream for SessionExport {
    type Item = Result<String, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(context)
    }
}

impl fmt::Debug for SessionExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionExport").finish_non_exhaustive()
    }
}
