use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// A store as one host sees it: of holders of other hosts nobody can tell whether they live, and at times it cannot be
/// reached.
#[derive(Debug)]
pub(super) struct Elsewhere {
    host: String,
    inner: Arc<InMemorySessionStore>,
    away: AtomicBool,
}

impl Elsewhere {
    pub(super) fn new(host: &str, inner: Arc<InMemorySessionStore>) -> Self {
        Self {
            host: format!("host {host}: "),
            inner,
            away: AtomicBool::new(false),
        }
    }

    pub(super) fn reach(&self, can: bool) {
        self.away.store(!can, Ordering::SeqCst);
    }

    fn there(&self) -> Result<&InMemorySessionStore, StoreError> {
        if self.away.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable {
                operation: "ask",
                source: "the store cannot be reached".into(),
            });
        }
        Ok(&self.inner)
    }

    fn named(&self, owner: &LeaseOwner) -> LeaseOwner {
        LeaseOwner(format!("{}{owner}", self.host))
    }

    /// As this host knows it: its own without its name.
    fn known(&self, owner: LeaseOwner) -> LeaseOwner {
        let own = owner.0.strip_prefix(&self.host).map(str::to_owned);
        own.map_or(owner, LeaseOwner)
    }

    fn told(&self, outcome: Result<Lease, StoreError>) -> Result<Lease, StoreError> {
        match outcome {
            Ok(lease) => Ok(Lease {
                owner: self.known(lease.owner),
                ..lease
            }),
            Err(StoreError::LeaseHeld {
                session,
                owner,
                expires_at,
            }) => Err(StoreError::LeaseHeld {
                session,
                owner: self.known(owner),
                expires_at,
            }),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl SessionStore for Elsewhere {
    fn is_durable(&self) -> bool {
        self.inner.is_durable()
    }

    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
        self.there()?.create(session).await
    }

    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError> {
        self.there()?.bind(session, binding).await
    }

    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        self.there()?.session(session).await
    }

    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        self.there()?.sessions(query).await
    }

    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError> {
        self.there()?.set_title(session, title).await
    }

    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        self.there()?.append(request).await
    }

    async fn events(
        &self,
        session: &SessionId,
        query: EventQuery,
    ) -> Result<EventPage, StoreError> {
        self.there()?.events(session, query).await
    }

    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        self.there()?.fork(request).await
    }

    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let owner = self.named(owner);
        let asked = self.there()?.acquire_lease(session, &owner, now, duration);
        self.told(asked.await)
    }

    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let owner = self.named(owner);
        let elsewhere = held.owner.0.starts_with("host ");
        let held = HeldLease {
            owner: if elsewhere {
                held.owner.clone()
            } else {
                self.named(&held.owner)
            },
            expires_at: held.expires_at,
        };
        let asked = self
            .there()?
            .take_over_lease(session, &owner, &held, now, duration);
        self.told(asked.await)
    }

    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError> {
        self.there()?.release_lease(session, token).await
    }

    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        self.there()?.delete(session, token).await
    }

    async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.there()?.is_deleted(session).await
    }
}
