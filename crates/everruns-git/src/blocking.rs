//! The one way from async code to blocking work.

use crate::error::{GitError, Result};

/// Runs `work` on the runtime's pool for blocking work.
///
/// When the returned future is dropped the work still runs to its end, so no operation stops half way because its
/// caller lost interest.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(failure) => {
            tracing::error!(%failure, "a worker thread of the git backend failed");
            Err(GitError::Worker)
        }
    }
}
