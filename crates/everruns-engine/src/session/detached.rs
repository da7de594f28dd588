use std::panic;

use super::SessionError;
use crate::engine::{DeleteError, ResumeError};

/// The task of the work was stopped from outside, as a runtime does when it shuts down.
#[derive(Debug)]
pub(crate) struct Stopped;

/// Runs `work` in a task of its own and waits for it, so that a caller who goes away does not stop it between two
/// steps.
pub(crate) async fn detached<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Stopped> + Send + 'static,
{
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => panic::resume_unwind(payload),
            Err(_) => Err(Stopped.into()),
        },
    }
}

impl From<Stopped> for SessionError {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<Stopped> for ResumeError {
    fn from(Stopped: Stopped) -> Self {
        SessionError::Stopped.into()
    }
}

impl From<Stopped> for DeleteError {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}
