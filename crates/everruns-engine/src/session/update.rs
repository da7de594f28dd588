use std::pin::Pin;
use std::task::{Context, Poll};

use everruns_core::model::ToolCall;
use everruns_core::session::{SessionEvent, ToolOutcome};
use futures::stream::{self, BoxStream, Stream};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Updates that a slow reader may fall behind before it loses some.
pub(crate) const UPDATE_BUFFER: usize = 1024;

/// What happens in a session right now, for a user interface. Only [`Event`](Self::Event)s are recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SessionUpdate {
    /// The model said more.
    TextDelta {
        /// The turn.
        turn: u64,
        /// What.
        text: String,
    },
    /// The model reasoned more.
    ReasoningDelta {
        /// The turn.
        turn: u64,
        /// What.
        text: String,
    },
    /// The provider failed and is asked again; deltas since the last event are void.
    Retrying {
        /// The turn.
        turn: u64,
        /// Why.
        reason: String,
        /// After how long it is asked again.
        wait: std::time::Duration,
    },
    /// A tool call begins.
    ToolStarted {
        /// The turn.
        turn: u64,
        /// The call.
        call: ToolCall,
    },
    /// A tool call has ended; its result is recorded next.
    ToolEnded {
        /// The turn.
        turn: u64,
        /// The call's id.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// How it ended.
        outcome: ToolOutcome,
    },
    /// An event was recorded.
    Event(SessionEvent),
    /// This reader was too slow and has lost so many updates.
    Lagged {
        /// How many.
        lost: u64,
    },
}

/// A stream of [`SessionUpdate`]s, from the time it was asked for. It ends with the last handle of the session.
#[must_use = "streams do nothing unless polled"]
pub struct SessionUpdates {
    inner: BoxStream<'static, SessionUpdate>,
}

impl SessionUpdates {
    pub(crate) fn new(receiver: broadcast::Receiver<SessionUpdate>) -> Self {
        let inner = stream::unfold(receiver, |mut receiver| async move {
            match receiver.recv().await {
                Ok(update) => Some((update, receiver)),
                Err(RecvError::Lagged(lost)) => Some((SessionUpdate::Lagged { lost }, receiver)),
                Err(RecvError::Closed) => None,
            }
        });
        Self {
            inner: Box::pin(inner),
        }
    }
}

impl Stream for SessionUpdates {
    type Item = SessionUpdate;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(context)
    }
}

impl std::fmt::Debug for SessionUpdates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionUpdates").finish_non_exhaustive()
    }
}
