use std::io;

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;

/// Runs `work` on a thread that may block; it starts at once and the future waits for it.
///
/// Dropping the future does not stop the work: it ends by itself, so that it leaves the state before or the
/// state after it and no lock.
pub(crate) fn blocking<T, F>(work: F) -> impl Future<Output = Result<T, FileSystemError>> + Send
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, FileSystemError> + Send + 'static,
{
    let running = tokio::task::spawn_blocking(work);
    async move {
        match running.await {
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
}
