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

#[cfg(test)]
mod tests {
    use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
    use sqlx::{ConnectOptions as _, Connection as _};

    use super::*;

    /// Proves H71 for `BUSY_SNAPSHOT`, which the store's own transactions cannot meet because they lock at once.
    #[tokio::test]
    async fn h71_a_stale_snapshot_is_busy() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("x.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        let mut writer = options.connect().await.unwrap();
        sqlx::raw_sql("CREATE TABLE t (n); INSERT INTO t VALUES (1)")
            .execute(&mut writer)
            .await
            .unwrap();
        let mut late = options.connect().await.unwrap();
        let mut stale = late.begin().await.unwrap();
        sqlx::query("SELECT n FROM t")
            .fetch_one(&mut *stale)
            .await
            .unwrap();
        sqlx::query("UPDATE t SET n = 2")
            .execute(&mut writer)
            .await
            .unwrap();
        let error = sqlx::query("UPDATE t SET n = 3")
            .execute(&mut *stale)
            .await
            .unwrap_err();
        let code = error
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code);
        assert_eq!(code.as_deref(), Some("517"));
        assert!(matches!(judge(error, "test", folder.path()), Verdict::Busy));
    }
}
