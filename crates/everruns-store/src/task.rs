use std::panic;

use everruns_core::session::StoreError;

/// Runs `work` to its end even when the caller's future is dropped.
///
/// A transaction is never left in the middle, and no pooled connection is given back while its `BEGIN` or `COMMIT`
/// is unanswered.
pub(crate) async fn to_its_end<T: Send + 'static>(
    operation: &'static str,
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    joined(operation, tokio::spawn(work).await)
}

/// Runs blocking `work` on the threads that are there for it.
#[cfg(feature = "sqlite")]
pub(crate) async fn blocking<T: Send + 'static>(
    operation: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    joined(operation, tokio::task::spawn_blocking(work).await)
}

fn joined<T>(
    operation: &'static str,
    outcome: Result<Result<T, StoreError>, tokio::task::JoinError>,
) -> Result<T, StoreError> {
    match outcome {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => panic::resume_unwind(panic),
            // The runtime is shutting down.
            Err(error) => Err(StoreError::Unavailable {
                operation,
                source: error.into(),
            }),
        },
    }
}
