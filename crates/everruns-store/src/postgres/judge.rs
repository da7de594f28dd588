use std::path::Path;

use everruns_core::session::StoreError;

use crate::attempt::Verdict;

/// What PostgreSQL's error means for the operation, by its SQLSTATE,
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub(super) fn judge(error: sqlx::Error, operation: &'static str, location: &Path) -> Verdict {
    let unavailable = |error: sqlx::Error| StoreError::Unavailable {
        operation,
        source: error.into(),
    };
    let state = error
        .as_database_error()
        .and_then(|error| error.code())
        .map(std::borrow::Cow::into_owned);
    match (state.as_deref(), &error) {
        // Serialization failure, deadlock, lock not available.
        (Some("40001" | "40P01" | "55P03"), _) => Verdict::Busy,
        (Some("25006"), _) => Verdict::Final(StoreError::ReadOnly {
            location: location.to_owned(),
            reason: error.to_string(),
        }),
        // The server is stopping or starting, or has no connection left; class 08 are connection errors.
        (Some("57P01" | "57P02" | "57P03" | "53300"), _) => Verdict::Lost(unavailable(error)),
        (Some(state), _) if state.starts_with("08") => Verdict::Lost(unavailable(error)),
        // A connection that breaks off in the middle of a message shows as either.
        (None, sqlx::Error::Io(_) | sqlx::Error::Protocol(_)) => Verdict::Lost(unavailable(error)),
        (None, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed) => {
            Verdict::Final(unavailable(error))
        }
        _ => Verdict::Final(StoreError::Failed {
            operation,
            source: error.into(),
        }),
    }
}
