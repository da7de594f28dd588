use std::path::PathBuf;
use std::sync::Arc;

use everruns_core::session::StoreError;
use sqlx::{Sqlite, SqlitePool, Transaction};

use super::judge::judge;
use crate::RetryPolicy;
use crate::appends::Appends;
use crate::attempt::{self, Fault, Repeat};
use crate::task::to_its_end;

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

impl Database {
    /// Begins a change. Taking the write lock at once means that what is read in the transaction stays true, and
    /// that it cannot fail later for having read before another's change.
    ///
    /// On a full disk SQLite rolls back by itself, which the connection's own count of open transactions does not
    /// learn. Such a connection begins no other transaction, so that another one takes its place.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Sqlite>, Fault> {
        self.begin_with("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
            .await
    }

    /// As [`begin`](Self::begin); the commit does not wait for the disk. It survives the end of the process, and the next
    /// change that does wait brings it to the disk.
    pub(super) async fn begin_unflushed(&self) -> Result<Transaction<'static, Sqlite>, Fault> {
        self.begin_with("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
            .await
    }

    /// Whether the commit is flushed is a setting of the connection, so that every transaction begins with it.
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

    /// Makes a change, in as many attempts as it takes, to its end even if the caller is gone.
    pub(super) async fn write<T, W>(
        self: &Arc<Self>,
        operation: &'static str,
        repeat: Repeat,
        work: impl Fn(Arc<Self>) -> W + Send + Sync + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let database = Arc::clone(self);
        to_its_end(operation, async move {
            attempt::run(
                database.policy,
                operation,
                repeat,
                |error| judge(error, operation, &database.location),
                || work(Arc::clone(&database)),
            )
            .await
        })
        .await
    }

    /// Reads, in as many attempts as it takes.
    pub(super) async fn read<T, W>(
        &self,
        operation: &'static str,
        work: impl FnMut() -> W + Send,
    ) -> Result<T, StoreError>
    where
        T: Send,
        W: Future<Output = Result<T, Fault>> + Send,
    {
        let judge = |error| judge(error, operation, &self.location);
        attempt::run(self.policy, operation, Repeat::Safe, judge, work).await
    }

    pub(super) async fn check_integrity(&self) -> Result<(), StoreError> {
        let wrong = self
            .read("check the database", || self.first_fault())
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
