use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use everruns_core::ids::SessionId;
use everruns_core::session::{EventQuery, Sequence, SessionEvent, SessionStore, StoreError};
use futures::stream::{self, BoxStream, Stream};
use tokio::sync::watch;

use super::journal::{Journal, PAGE};

/// The events of a session, recorded ones first and new ones as they are recorded.
///
/// All are read from the store, page after page; a new event only wakes the stream. So there is one order, without
/// gaps and duplicates, and a slow reader costs no memory.
#[must_use = "streams do nothing unless polled"]
pub struct SessionEvents {
    inner: BoxStream<'static, Result<SessionEvent, StoreError>>,
}

struct Reader {
    store: Arc<dyn SessionStore>,
    session: SessionId,
    last: watch::Receiver<Sequence>,
    position: Sequence,
    page: VecDeque<SessionEvent>,
    ended: bool,
}

impl SessionEvents {
    pub(crate) fn new(journal: &Journal, from: Sequence) -> Self {
        let reader = Reader {
            store: Arc::clone(journal.store()),
            session: journal.session.clone(),
            last: journal.watch_last(),
            position: from,
            page: VecDeque::new(),
            ended: false,
        };
        Self {
            inner: Box::pin(stream::unfold(reader, Reader::next)),
        }
    }
}

impl Reader {
    async fn next(mut self) -> Option<(Result<SessionEvent, StoreError>, Self)> {
        loop {
            if let Some(event) = self.page.pop_front() {
                self.position = event.sequence;
                return Some((Ok(event), self));
            }
            if self.ended {
                return None;
            }
            self.last.mark_unchanged();
            let query = EventQuery::after(self.position, PAGE);
            match self.store.events(&self.session, query).await {
                Ok(page) => self.page.extend(page.events),
                // Not started yet: there is nothing to read before the first event wakes this stream.
                Err(StoreError::NotFound { .. }) if self.position == Sequence::START => {}
                Err(error) => {
                    self.ended = true;
                    return Some((Err(error), self));
                }
            }
            if self.page.is_empty() {
                self.ended = self.last.changed().await.is_err();
            }
        }
    }
}

impl Stream for SessionEvents {
    type Item = Result<SessionEvent, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(context)
    }
}

impl fmt::Debug for SessionEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEvents").finish_non_exhaustive()
    }
}
