use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;

use super::{SessionError, Turn};

/// What a turn's task leaves for those who wait.
pub(crate) type TurnReport = Option<Result<Turn, Arc<SessionError>>>;

/// A turn that runs. Dropping it leaves the turn running; [`Session::cancel`](super::Session::cancel) stops it.
#[derive(Clone)]
#[must_use = "await it, or call `wait`, to learn how the turn ended"]
pub struct PendingTurn {
    number: u64,
    report: watch::Receiver<TurnReport>,
}

impl PendingTurn {
    pub(crate) fn new(number: u64, report: watch::Receiver<TurnReport>) -> Self {
        Self { number, report }
    }

    /// The turn's number in the session. Messages that steer one turn have the same.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the turn has ended.
    pub fn is_finished(&self) -> bool {
        self.report.borrow().is_some()
    }

    /// Waits for the turn's end.
    ///
    /// A model that failed is not an error here but a [`Turn`] that says so.
    ///
    /// # Errors
    /// [`SessionError::TurnAborted`] when the turn could not be recorded to its end, [`SessionError::Stopped`] when
    /// its task was stopped.
    pub async fn wait(mut self) -> Result<Turn, SessionError> {
        match self.report.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(Ok(turn))) => Ok(turn.clone()),
            Ok(Some(Err(source))) => Err(SessionError::TurnAborted {
                source: Arc::clone(source),
            }),
            Ok(None) | Err(_) => Err(SessionError::Stopped),
        }
    }
}

impl IntoFuture for PendingTurn {
    type Output = Result<Turn, SessionError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

impl fmt::Debug for PendingTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingTurn")
            .field("number", &self.number)
            .field("finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
