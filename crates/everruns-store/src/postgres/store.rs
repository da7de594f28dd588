use std::fmt;
use std::sync::Arc;

use everruns_core::session::StoreError;

use super::connect;
use super::database::Database;
use crate::RetryPolicy;
use crate::operations::session_store;

/// Sessions in one PostgreSQL database. Cheap to clone; the clones share their connections.
///
/// Any number of processes on any number of machines may use the database at once. An acknowledged change is as
/// durable as the server's `synchronous_commit` says. A change whose future is dropped is finished nevertheless, or
/// not begun. When the connection is lost while a change is committed, the change is made again where that is the
/// same as making it once; recording and deleting a session answer `Unavailable` instead.
///
/// Appends that wait at the same time share one transaction, on one of at most 8 connections. Those to a session whose row
/// somebody else has locked do not hold up the rest of it.
#[derive(Clone)]
pub struct PostgresSessionStore {
    pub(super) database: Arc<Database>,
}

impl PostgresSessionStore {
    /// Connects to the database that `url` names, such as `postgres://user@host/database`, and makes the tables in
    /// the schema that comes first in its search path if there are none.
    ///
    /// # Errors
    /// `NewerSchema`, `ReadOnly`: nothing was changed. `Unavailable` when the server cannot be reached; `Busy` when
    /// others kept the tables locked; `Failed` for anything else. No error shows the password.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_with(url, RetryPolicy::default()).await
    }

    /// As [`connect`](Self::connect), waiting for others as `policy` says.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    pub async fn connect_with(url: &str, policy: RetryPolicy) -> Result<Self, StoreError> {
        let database = connect::connect(url, policy).await?;
        Ok(Self {
            database: Arc::new(database),
        })
    }

    /// Waits for running operations, then closes all connections, of the clones too.
    pub async fn close(&self) {
        self.database.pool.close().await;
    }
}

impl fmt::Debug for PostgresSessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSessionStore")
            .field("location", &self.database.location)
            .finish_non_exhaustive()
    }
}

session_store!(PostgresSessionStore);
