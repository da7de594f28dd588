use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use everruns_core::ids::SessionId;
use everruns_core::session::{EventQuery, Sequence, SessionEvent, SessionStore, StoreError};
use futures::stream::{self, BoxStream, Stream};
use tokio::sync::watch;

use super::journal::{Journal, PAGE};

/// How soon a stream without news looks for what other processes have appended; twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// What other processes append is seen after so long at the latest.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The events of a session, recorded ones first and new ones as they are recorded.
///
/// All are read from the store, page after page; a new event only wakes the stream. So there is one order, without
/// gaps and duplicates, and a slow reader costs no memory. What other processes append is looked for after 50
/// milliseconds without news, and then ever more seldom, every two seconds at last.
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
    /// Whether other processes may append.
    others: bool,
    /// How long to wait before looking for what other processes have appended.
    pause: Duration,
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
            others: journal.store().is_durable(),
            pause: FIRST_PAUSE,
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
                self.wait().await;
            } else {
                self.pause = FIRST_PAUSE;
            }
        }
    }
}

impl Reader {
    /// Until an event of this engine wakes the stream, or it is time to look for those of other processes.
    async fn wait(&mut self) {
        if !self.others {
            self.ended = self.last.changed().await.is_err();
            return;
        }
        tokio::select! {
            changed = self.last.changed() => self.ended = changed.is_err(),
            () = tokio::time::sleep(self.pause) => {
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
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
