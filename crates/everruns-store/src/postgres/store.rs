use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendReceipt, AppendRequest, EventPage, EventQuery, FencingToken, ForkRequest, HeldLease,
    Lease, LeaseOwner, NewSession, SessionPage, SessionQuery, SessionRecord, SessionStore,
    StoreError,
};
use everruns_core::workspace::WorkspaceBinding;

use super::database::Database;
use super::{bind, connect, create, delete, events, fork, lease, list};
use crate::RetryPolicy;
use crate::appends;
use crate::rules::{Batch, Claim, Fork};

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

#[async_trait]
impl SessionStore for PostgresSessionStore {
    fn is_durable(&self) -> bool {
        true
    }

    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
        create::create(&self.database, session).await
    }

    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError> {
        bind::bind(&self.database, session, binding).await
    }

    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        list::one(&self.database, session).await
    }

    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        list::page(&self.database, query).await
    }

    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError> {
        create::set_title(&self.database, session, title).await
    }

    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        appends::append(&self.database, Batch::new(request)?).await
    }

    async fn events(
        &self,
        session: &SessionId,
        query: EventQuery,
    ) -> Result<EventPage, StoreError> {
        events::page(&self.database, session, query).await
    }

    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        fork::fork(&self.database, Fork::new(request)?).await
    }

    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let claim = Claim {
            session: session.clone(),
            owner: owner.clone(),
            over: None,
            now,
            duration,
        };
        lease::acquire(&self.database, claim).await
    }

    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let claim = Claim {
            session: session.clone(),
            owner: owner.clone(),
            over: Some(held.clone()),
            now,
            duration,
        };
        lease::acquire(&self.database, claim).await
    }

    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError> {
        lease::release(&self.database, session, token).await
    }

    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        delete::delete(&self.database, session, token).await
    }
}
