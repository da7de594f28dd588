use std::path::Path;

use everruns_core::session::StoreError;

use crate::attempt::Verdict;

/// SQLite's primary result codes, <https://sqlite.org/rescode.html>; the extended ones have them in the low byte.
mod code {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

/// What SQLite's error means for the operation.
pub(super) fn judge(error: sqlx::Error, operation: &'static str, location: &Path) -> Verdict {
    match error {
        sqlx::Error::PoolTimedOut => {
            return Verdict::Final(StoreError::Busy {
                operation,
                attempts: 1,
            });
        }
        sqlx::Error::WorkerCrashed => {
            return Verdict::Lost(StoreError::Unavailable {
                operation,
                source: error.into(),
            });
        }
        _ => {}
    }
    let location = || location.to_owned();
    let reason = || match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    };
    match result_code(&error) {
        Some(code::BUSY | code::LOCKED) => Verdict::Busy,
        Some(code::READONLY | code::PERM | code::CANTOPEN) => {
            Verdict::Final(StoreError::ReadOnly {
                location: location(),
                reason: reason(),
            })
        }
        Some(code::CORRUPT | code::NOTADB) => Verdict::Final(StoreError::CorruptDatabase {
            location: location(),
            reason: reason(),
        }),
        _ => Verdict::Final(StoreError::Failed {
            operation,
            source: error.into(),
        }),
    }
}

/// The primary result code, if the error is SQLite's.
fn result_code(error: &sqlx::Error) -> Option<i32> {
    let extended: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(extended & 0xff)
}
