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
use everruns_engine::InMemorySessionStore;

/// A store in memory that lets others run before and after whatever it does, as one on a disk or a server would.
#[derive(Debug, Default)]
pub(crate) struct Yielding(InMemorySessionStore);

impl Yielding {
    pub(crate) fn store() -> Arc<dyn SessionStore> {
        Arc::new(Self::default())
    }
}

async fn slowly<T>(work: impl Future<Output = T>) -> T {
    tokio::task::yield_now().await;
    let done = work.await;
    tokio::task::yield_now().await;
    done
}

#[async_trait]
impl SessionStore for Yielding {
    fn is_durable(&self) -> bool {
        self.0.is_durable()
    }

    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
        slowly(self.0.create(session)).await
    }

    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError> {
        slowly(self.0.bind(session, binding)).await
    }

    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        slowly(self.0.session(session)).await
    }

    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        slowly(self.0.sessions(query)).await
    }

    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError> {
        slowly(self.0.set_title(session, title)).await
    }

    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        slowly(self.0.append(request)).await
    }

    async fn events(
        &self,
        session: &SessionId,
        query: EventQuery,
    ) -> Result<EventPage, StoreError> {
        slowly(self.0.events(session, query)).await
    }

    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        slowly(self.0.fork(request)).await
    }

    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        slowly(self.0.acquire_lease(session, owner, now, duration)).await
    }

    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        slowly(self.0.take_over_lease(session, owner, held, now, duration)).await
    }

    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError> {
        slowly(self.0.release_lease(session, token)).await
    }

    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        slowly(self.0.delete(session, token)).await
    }

    async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError> {
        slowly(self.0.is_deleted(session)).await
    }
}
