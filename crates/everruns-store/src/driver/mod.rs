//! What the operations ask of a database.

mod changes;
mod statement;

use std::sync::Arc;
use std::time::Duration;

use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceBinding;

use futures::future::BoxFuture;

use crate::RetryPolicy;
use crate::attempt::{self, Fault, Repeat, Verdict};
use crate::task::to_its_end;

pub(crate) use changes::{Changes, Record, all};
pub(crate) use statement::{Arguments, Statement};

/// A database with the four tables. Each driver has one.
pub(crate) trait Driver: Sized + Send + Sync + 'static {
    /// A transaction, which is taken back when it is dropped.
    type Changes: Changes;

    /// Lists sessions, as told beside `sql::sessions::LIST_SQLITE`.
    const LIST: &'static str;

    /// How long it waits for others, and how often it tries again.
    fn policy(&self) -> RetryPolicy;

    /// What an error of the database means for the operation.
    fn judge(&self, error: sqlx::Error, operation: &'static str) -> Verdict;

    /// Begins a change.
    fn begin(&self) -> impl Future<Output = Result<Self::Changes, Fault>> + Send;

    /// As [`begin`](Self::begin); the commit does not wait for the disk. It survives the end of the process, though not
    /// that of the host or server, and the next change that does wait brings it to the disk.
    fn begin_unflushed(&self) -> impl Future<Output = Result<Self::Changes, Fault>> + Send;

    /// Reads rows outside any transaction, in one attempt.
    fn all<'a, R: Record + 'a>(
        &'a self,
        statement: &'a Statement<'a>,
    ) -> BoxFuture<'a, Result<Vec<R>, Fault>>;

    /// Lets nobody else change the session until the transaction ends; nothing happens when there is no such session.
    fn lock_session(
        changes: &mut Self::Changes,
        session: &SessionId,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Lets nobody else bind the head until the transaction ends. Always after the session, so that two cannot wait for
    /// each other.
    fn lock_head(
        changes: &mut Self::Changes,
        binding: &WorkspaceBinding,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// What the next lease's token is at least: no token may be given again after a failure that lost its lease, if the
    /// holder can have lived on.
    fn least_token(changes: &mut Self::Changes) -> impl Future<Output = Result<u64, Fault>> + Send;

    /// How long an attempt may take in which little is to be done; `None` where the database cannot be silent.
    fn patience(&self) -> Option<Duration>;

    /// Makes a change, in as many attempts as it takes, to its end even if the caller is gone.
    fn write<T, W>(
        self: &Arc<Self>,
        operation: &'static str,
        repeat: Repeat,
        work: impl Fn(Arc<Self>) -> W + Send + Sync + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        self.write_within(None, operation, repeat, work)
    }

    /// As [`write`](Self::write); the connection of an attempt that takes longer than `limit` counts as lost.
    fn write_within<T, W>(
        self: &Arc<Self>,
        limit: Option<Duration>,
        operation: &'static str,
        repeat: Repeat,
        work: impl Fn(Arc<Self>) -> W + Send + Sync + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let database = Arc::clone(self);
        to_its_end(operation, async move {
            attempt::run(
                database.policy(),
                operation,
                repeat,
                |error| database.judge(error, operation),
                || attempt::within(limit, work(Arc::clone(&database))),
            )
            .await
        })
    }
}

/// Reads, in as many attempts as it takes.
pub(crate) async fn read<'a, D: Driver, R: Record + 'a>(
    database: &'a D,
    operation: &'static str,
    statement: &'a Statement<'a>,
) -> Result<Vec<R>, StoreError> {
    attempt::run(
        database.policy(),
        operation,
        Repeat::Safe,
        |error| database.judge(error, operation),
        || database.all(statement),
    )
    .await
}
