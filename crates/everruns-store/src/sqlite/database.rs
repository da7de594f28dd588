use std::path::PathBuf;
use std::time::Duration;

use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceBinding;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::{Sqlite, SqlitePool, Transaction};

use super::judge::judge;
use crate::RetryPolicy;
use crate::appends::Appends;
use crate::attempt::{self, Fault, Repeat, Verdict};
use crate::driver::{self, Driver, Record, Statement};
use crate::sql;

/// The connections to one file.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) location: PathBuf,
    /// One connection: SQLite has one writer at a time, and waiting here is fairer than in the file's lock.
    pub(super) writer: SqlitePool,
    pub(super) reader: SqlitePool,
    pub(super) policy: RetryPolicy,
    pub(super) appends: Appends,
}

impl Driver for Database {
    type Changes = Transaction<'static, Sqlite>;

    const LIST: &'static str = sql::sessions::LIST_SQLITE;

    fn policy(&self) -> RetryPolicy {
        self.policy
    }

    fn judge(&self, error: sqlx::Error, operation: &'static str) -> Verdict {
        judge(error, operation, &self.location)
    }

    /// Taking the write lock at once means that what is read in the transaction stays true, and that it cannot fail later
    /// for having read before another's change.
    async fn begin(&self) -> Result<Self::Changes, Fault> {
        self.begin_with("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
            .await
    }

    async fn begin_unflushed(&self) -> Result<Self::Changes, Fault> {
        self.begin_with("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
            .await
    }

    fn all<'a, R: Record + 'a>(
        &'a self,
        statement: &'a Statement<'a>,
    ) -> BoxFuture<'a, Result<Vec<R>, Fault>> {
        driver::all(&self.reader, statement).boxed()
    }

    /// A file is never silent.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// There is nobody else in a transaction.
    async fn lock_session(_: &mut Self::Changes, _: &SessionId) -> Result<(), Fault> {
        Ok(())
    }

    /// There is nobody else in a transaction.
    async fn lock_head(_: &mut Self::Changes, _: &WorkspaceBinding) -> Result<(), Fault> {
        Ok(())
    }

    /// No process lives on when the host fails.
    async fn least_token(_: &mut Self::Changes) -> Result<u64, Fault> {
        Ok(0)
    }
}

impl Database {
    /// Whether the commit is flushed is a setting of the connection, so that every transaction begins with it.
    ///
    /// On a full disk SQLite rolls back by itself, which the connection's own count of open transactions does not
    /// learn. Such a connection begins no other transaction, so that another one takes its place.
    async fn begin_with(&self, begin: &'static str) -> Result<Transaction<'static, Sqlite>, Fault> {
        match self.writer.begin_with(begin).await {
            Err(sqlx::Error::InvalidSavePointStatement) => {
                let spent = self.writer.acquire().await?;
                if let Err(error) = spent.close().await {
                    tracing::debug!(%error, "a connection that is given up cannot be closed");
                }
                Ok(self.writer.begin_with(begin).await?)
            }
            begun => Ok(begun?),
        }
    }

    pub(super) async fn check_integrity(&self) -> Result<(), StoreError> {
        const OPERATION: &str = "check the database";
        let judge = |error| self.judge(error, OPERATION);
        let wrong = attempt::run(self.policy, OPERATION, Repeat::Safe, judge, || {
            self.first_fault()
        })
        .await?;
        wrong.map_or(Ok(()), |reason| {
            Err(StoreError::CorruptDatabase {
                location: self.location.clone(),
                reason,
            })
        })
    }

    /// The first thing that is wrong with the pages, or else with what refers to what.
    async fn first_fault(&self) -> Result<Option<String>, Fault> {
        let verdict: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
            .fetch_one(&self.reader)
            .await?;
        if verdict != "ok" {
            return Ok(Some(verdict));
        }
        let dangling: Option<(String, Option<i64>, String, i64)> =
            sqlx::query_as("PRAGMA foreign_key_check")
                .fetch_optional(&self.reader)
                .await?;
        Ok(dangling.map(|(table, row, parent, _)| {
            let row = row.map(|row| format!("row {row} of ")).unwrap_or_default();
            format!("{row}{table} belongs to nothing in {parent}")
        }))
    }

    pub(super) async fn close(&self) {
        // The writer last: its connection can move the write-ahead log into the file and remove it.
        self.reader.close().await;
        self.writer.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open;

    /// Whatever the transaction before did.
    #[tokio::test]
    async fn only_what_is_recorded_waits_for_the_disk() {
        const NORMAL: i64 = 1;
        const FULL: i64 = 2;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.db");
        let database = open::open(&path, RetryPolicy::default()).await.unwrap();
        for (recorded, expected) in [
            (true, FULL),
            (false, NORMAL),
            (true, FULL),
            (true, FULL),
            (false, NORMAL),
            (false, NORMAL),
            (true, FULL),
        ] {
            let begun = if recorded {
                database.begin().await
            } else {
                database.begin_unflushed().await
            };
            let mut transaction = begun.unwrap();
            let setting: i64 = sqlx::query_scalar("PRAGMA synchronous")
                .fetch_one(&mut *transaction)
                .await
                .unwrap();
            assert_eq!(setting, expected);
            transaction.commit().await.unwrap();
        }
        database.close().await;
    }
}
