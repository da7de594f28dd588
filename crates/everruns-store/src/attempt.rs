//! One attempt at an operation, how it can fail, and the loop that tries it again.

use std::io;
use std::time::Duration;

use everruns_core::failpoint::FailpointError;
use everruns_core::session::StoreError;

use crate::RetryPolicy;

/// What ended one attempt.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The database refused or failed.
    Database(sqlx::Error),
    /// The store's rules refuse.
    Store(StoreError),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<FailpointError> for Fault {
    fn from(error: FailpointError) -> Self {
        Self::Store(error.into())
    }
}

/// What a driver makes of a database's error.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Nothing was changed because of others; another attempt may succeed.
    Busy,
    /// The connection was lost: what was sent may or may not have been applied.
    Lost(StoreError),
    /// Another attempt would fail alike.
    Final(StoreError),
}

/// Whether an operation may be tried again when it is not known whether it was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Applying it twice is the same as once.
    Safe,
    /// A second application would answer differently.
    Unsafe,
}

/// Ends an attempt that takes longer than `limit`, as if its connection had been lost.
pub(crate) async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, Fault>> + Send,
) -> Result<T, Fault> {
    let Some(limit) = limit else {
        return work.await;
    };
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let silent = format!("no answer for {} s", limit.as_secs_f32());
        let silent = io::Error::new(io::ErrorKind::TimedOut, silent);
        Err(sqlx::Error::Io(silent).into())
    })
}

/// Makes attempts until one succeeds, one fails for good, or there were too many.
pub(crate) async fn run<T, W>(
    policy: RetryPolicy,
    operation: &'static str,
    repeat: Repeat,
    judge: impl Fn(sqlx::Error) -> Verdict + Send,
    mut work: impl FnMut() -> W + Send,
) -> Result<T, StoreError>
where
    T: Send,
    W: Future<Output = Result<T, Fault>> + Send,
{
    let mut attempts = 1;
    loop {
        let verdict = match work().await {
            Ok(value) => return Ok(value),
            Err(Fault::Store(error)) => return Err(error),
            Err(Fault::Database(error)) => judge(error),
        };
        let may_repeat = attempts < policy.attempts;
        match verdict {
            Verdict::Final(error) => return Err(error),
            Verdict::Lost(error) if !may_repeat || repeat == Repeat::Unsafe => return Err(error),
            Verdict::Busy if !may_repeat => {
                return Err(StoreError::Busy {
                    operation,
                    attempts,
                });
            }
            Verdict::Lost(error) => {
                tracing::debug!(operation, attempts, %error, "trying again after a lost connection");
            }
            Verdict::Busy => tracing::debug!(operation, attempts, "trying again: busy"),
        }
        tokio::time::sleep(policy.pause_after(attempts)).await;
        attempts += 1;
    }
}
