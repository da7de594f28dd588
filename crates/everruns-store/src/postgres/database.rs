use std::path::PathBuf;
use std::sync::Arc;

use everruns_core::session::StoreError;
use sqlx::{PgPool, Postgres, Transaction};

use super::judge::judge;
use crate::RetryPolicy;
use crate::appends::Appends;
use crate::attempt::{self, Fault, Repeat};
use crate::task::to_its_end;

/// The connections to one database.
#[derive(Debug)]
pub(super) struct Database {
    /// For people: without user and password.
    pub(super) location: PathBuf,
    pub(super) pool: PgPool,
    pub(super) policy: RetryPolicy,
    pub(super) appends: Appends,
}

impl Database {
    /// Begins a change. Each statement sees what was committed before it, so what must stay true is locked first.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Postgres>, Fault> {
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
        Ok(self.pool.begin_with(begin).await?)
    }

    /// As [`begin`](Self::begin); the commit does not wait for the disk. It survives everything but the end of the server,
    /// and the next change that does wait brings it to the disk.
    pub(super) async fn begin_unflushed(&self) -> Result<Transaction<'static, Postgres>, Fault> {
        let mut transaction = self.begin().await?;
        sqlx::query("SET LOCAL synchronous_commit TO off")
            .execute(&mut *transaction)
            .await?;
        Ok(transaction)
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
}
