use std::panic;

use super::SessionError;

/// Runs `work` in a task of its own and waits for it, so that a caller who goes away does not stop it between two
/// steps.
pub(crate) async fn detached<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<SessionError> + Send + 'static,
{
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => panic::resume_unwind(payload),
            Err(_) => Err(SessionError::Stopped.into()),
        },
    }
}
