use std::io;

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;

/// Runs `work` on a thread that may block.
///
/// Dropping the future does not stop the work: it ends by itself, so that it leaves the state before or the
/// state after it and no lock.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, FileSystemError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, FileSystemError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(cancelled) => Err(FileSystemError::Io {
                path: WorkspacePath::root(),
                step: "run a file operation while the runtime shuts down in",
                source: io::Error::other(cancelled),
            }),
        },
    }
}
