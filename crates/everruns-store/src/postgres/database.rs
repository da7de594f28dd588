use std::path::PathBuf;
use std::time::Duration;

use everruns_core::ids::SessionId;
use everruns_core::workspace::WorkspaceBinding;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::{PgPool, Postgres, Transaction};

use super::judge::judge;
use super::lock;
use crate::RetryPolicy;
use crate::appends::Appends;
use crate::attempt::{Fault, Verdict};
use crate::driver::{self, Changes as _, Driver, Record, Statement};
use crate::sql;

/// The connections to one database.
#[derive(Debug)]
pub(super) struct Database {
    /// For people: without user and password.
    pub(super) location: PathBuf,
    pub(super) pool: PgPool,
    pub(super) policy: RetryPolicy,
    pub(super) appends: Appends,
}

impl Driver for Database {
    type Changes = Transaction<'static, Postgres>;

    const LIST: &'static str = sql::sessions::LIST_POSTGRES;

    fn policy(&self) -> RetryPolicy {
        self.policy
    }

    fn judge(&self, error: sqlx::Error, operation: &'static str) -> Verdict {
        judge(error, operation, &self.location)
    }

    /// Each statement sees what was committed before it, so what must stay true is locked first.
    async fn begin(&self) -> Result<Self::Changes, Fault> {
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
        Ok(self.pool.begin_with(begin).await?)
    }

    async fn begin_unflushed(&self) -> Result<Self::Changes, Fault> {
        let mut changes = self.begin().await?;
        let unflushed = Statement::new("SET LOCAL synchronous_commit TO off");
        changes.run(unflushed).await?;
        Ok(changes)
    }

    fn all<'a, R: Record + 'a>(
        &'a self,
        statement: &'a Statement<'a>,
    ) -> BoxFuture<'a, Result<Vec<R>, Fault>> {
        driver::all(&self.pool, statement).boxed()
    }

    fn patience(&self) -> Option<Duration> {
        Some(self.policy.silence + self.policy.lock_wait)
    }

    async fn lock_session(changes: &mut Self::Changes, session: &SessionId) -> Result<(), Fault> {
        lock::lock_session(changes, session).await
    }

    async fn lock_head(
        changes: &mut Self::Changes,
        binding: &WorkspaceBinding,
    ) -> Result<(), Fault> {
        lock::lock_head(changes, binding).await
    }

    /// Holders live on when the server fails, so that tokens follow its clock: one that was lost is not given again.
    async fn least_token(changes: &mut Self::Changes) -> Result<u64, Fault> {
        let microseconds = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint";
        let clock: Option<(i64,)> = changes.first(Statement::new(microseconds)).await?;
        Ok(clock.map_or(0, |(clock,)| u64::try_from(clock).unwrap_or(0)))
    }
}
