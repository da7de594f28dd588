use std::borrow::Cow;
use std::path::Path;

use everruns_core::session::StoreError;
use sqlx::error::DatabaseError;

use crate::attempt::Verdict;

/// What PostgreSQL's error means for the operation, by its SQLSTATE,
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub(super) fn judge(error: sqlx::Error, operation: &'static str, location: &Path) -> Verdict {
    let unavailable = |error: sqlx::Error| StoreError::Unavailable {
        operation,
        source: error.into(),
    };
    let failed = |error: sqlx::Error| StoreError::Failed {
        operation,
        source: error.into(),
    };
    let state = error
        .as_database_error()
        .and_then(DatabaseError::code)
        .map(Cow::into_owned);
    let Some(state) = state else {
        return match error {
            // A connection that breaks off in the middle of a message shows as either.
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => Verdict::Lost(unavailable(error)),
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
                Verdict::Final(unavailable(error))
            }
            _ => Verdict::Final(failed(error)),
        };
    };
    // The class of connection errors.
    if state.starts_with("08") {
        return Verdict::Lost(unavailable(error));
    }
    match state.as_str() {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => Verdict::Busy,
        // The server is stopping or starting, or has no connection left; or this process was silent for too long.
        "57P01" | "57P02" | "57P03" | "53300" | "25P03" | "57P05" => {
            Verdict::Lost(unavailable(error))
        }
        "25006" => Verdict::Final(StoreError::ReadOnly {
            location: location.to_owned(),
            reason: error.to_string(),
        }),
        _ => Verdict::Final(failed(error)),
    }
}
