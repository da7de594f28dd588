//! Work that may block, apart from what must not.

use crate::failure::Failure;

/// Runs `work` on a thread where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(Failure::of(&error)),
    }
}
