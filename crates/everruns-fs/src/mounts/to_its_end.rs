use std::io;

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;

/// Runs `work`, which goes on to its end when this future is dropped.
pub(super) async fn to_its_end(
    work: impl Future<Output = Result<(), FileSystemError>> + Send + 'static,
) -> Result<(), FileSystemError> {
    match tokio::spawn(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(cancelled) => Err(FileSystemError::Io {
                path: WorkspacePath::root(),
                step: "go on with a move while the runtime shuts down in",
                source: io::Error::other(cancelled),
            }),
        },
    }
}
