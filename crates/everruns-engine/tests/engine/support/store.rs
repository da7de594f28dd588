use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendReceipt, AppendRequest, EventPage, EventPayload, EventQuery, FencingToken, ForkRequest,
    HeldLease, Lease, LeaseOwner, NewSession, SessionPage, SessionQuery, SessionRecord,
    SessionStore, StoreError,
};
use everruns_core::workspace::WorkspaceBinding;
use everruns_engine::InMemorySessionStore;

/// A store in memory that remembers what it was asked, and fails as a test wants it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    inner: InMemorySessionStore,
    calls: Mutex<Vec<&'static str>>,
    refuse_bind: bool,
    durable: bool,
    lost_answers: AtomicU32,
    away: AtomicBool,
    lost_leases: AtomicU32,
    slow: AtomicBool,
    busy: Mutex<Option<SessionId>>,
    reads: AtomicU32,
    rows_read: AtomicU32,
    rows_written: AtomicU32,
}

impl Watched {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// As one that other processes have open, too.
    pub(crate) fn durable() -> Arc<Self> {
        Arc::new(Self {
            durable: true,
            ..Self::default()
        })
    }

    pub(crate) fn refusing_bindings() -> Arc<Self> {
        Arc::new(Self {
            refuse_bind: true,
            ..Self::default()
        })
    }

    /// Does the next appends, and then says that it could not be reached.
    pub(crate) fn lose_answers(&self, appends: u32) {
        self.lost_answers.store(appends, Ordering::SeqCst);
    }

    /// Cannot be asked for a session from now on, or can again.
    pub(crate) fn go_away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    /// Takes the next leases, or does not give them up, and says that it could not be reached.
    pub(crate) fn lose_leases(&self, answers: u32) {
        self.lost_leases.store(answers, Ordering::SeqCst);
    }

    /// Lets others go first, before and after what it does with a lease or a deletion.
    pub(crate) fn be_slow(&self) {
        self.slow.store(true, Ordering::SeqCst);
    }

    /// Lets a session go on right after the next page of sessions is read.
    pub(crate) fn go_on_after_a_page(&self, session: &SessionId) {
        *self.busy.lock().unwrap() = Some(session.clone());
    }

    /// What another process would do: it appends to `session`, much later than anybody else.
    async fn go_on(&self, session: SessionId) -> Result<(), StoreError> {
        let last = self.inner.session(&session).await?.last_sequence;
        let (owner, late) = (
            LeaseOwner("another".into()),
            Timestamp::from_millis(1 << 50),
        );
        let term = Duration::from_secs(1);
        let lease = self.inner.acquire_lease(&session, &owner, late, term);
        let request = AppendRequest {
            session: session.clone(),
            token: lease.await?.token,
            expected: last,
            idempotency_key: "goes on".into(),
            at: late,
            events: vec![EventPayload::UserMessage {
                text: "Go on.".into(),
            }],
        };
        self.inner.append(request).await.map(drop)
    }

    async fn linger(&self) {
        if self.slow.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    }

    fn lose(&self) -> Result<(), StoreError> {
        let lost = self.lost_leases.load(Ordering::SeqCst);
        if lost == 0 {
            return Ok(());
        }
        self.lost_leases.store(lost - 1, Ordering::SeqCst);
        Err(StoreError::Unavailable {
            operation: "change a lease",
            source: "the answer is lost".into(),
        })
    }

    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.calls.lock().unwrap().clone()
    }

    /// How often was read, and how many events were given to readers and taken from writers.
    pub(crate) fn cost(&self) -> [u32; 3] {
        [&self.reads, &self.rows_read, &self.rows_written].map(|count| count.load(Ordering::SeqCst))
    }

    pub(crate) fn forget_calls(&self) {
        self.calls.lock().unwrap().clear();
        self.reads.store(0, Ordering::SeqCst);
        self.rows_read.store(0, Ordering::SeqCst);
        self.rows_written.store(0, Ordering::SeqCst);
    }

    fn note(&self, call: &'static str) {
        self.calls.lock().unwrap().push(call);
    }
}

#[async_trait]
impl SessionStore for Watched {
    fn is_durable(&self) -> bool {
        self.durable
    }

    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
        self.note("create");
        self.inner.create(session).await
    }

    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError> {
        self.note("bind");
        if self.refuse_bind {
            return Err(StoreError::Failed {
                operation: "bind",
                source: "the test says so".into(),
            });
        }
        self.inner.bind(session, binding).await
    }

    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        if self.away.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable {
                operation: "read a session",
                source: "nobody answers".into(),
            });
        }
        self.inner.session(session).await
    }

    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        let page = self.inner.sessions(query).await?;
        let busy = self.busy.lock().unwrap().take();
        if let Some(session) = busy {
            self.go_on(session).await?;
        }
        Ok(page)
    }

    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError> {
        self.inner.set_title(session, title).await
    }

    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        self.note("append");
        let rows = u32::try_from(request.events.len()).unwrap();
        self.rows_written.fetch_add(rows, Ordering::SeqCst);
        let receipt = self.inner.append(request).await?;
        let lost = self.lost_answers.load(Ordering::SeqCst);
        if lost > 0 {
            self.lost_answers.store(lost - 1, Ordering::SeqCst);
            return Err(StoreError::Unavailable {
                operation: "append events",
                source: "the answer is lost".into(),
            });
        }
        Ok(receipt)
    }

    async fn events(
        &self,
        session: &SessionId,
        query: EventQuery,
    ) -> Result<EventPage, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let page = self.inner.events(session, query).await?;
        let rows = u32::try_from(page.events.len()).unwrap();
        self.rows_read.fetch_add(rows, Ordering::SeqCst);
        Ok(page)
    }

    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        self.note("fork");
        self.inner.fork(request).await
    }

    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        self.note("lease");
        self.linger().await;
        let lease = self.inner.acquire_lease(session, owner, now, duration);
        let lease = lease.await?;
        self.linger().await;
        self.lose().map(|()| lease)
    }

    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        self.note("lease");
        self.linger().await;
        let lease = self
            .inner
            .take_over_lease(session, owner, held, now, duration);
        let lease = lease.await?;
        self.linger().await;
        self.lose().map(|()| lease)
    }

    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError> {
        self.note("release");
        self.linger().await;
        self.lose()?;
        self.inner.release_lease(session, token).await?;
        self.linger().await;
        Ok(())
    }

    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        self.note("delete");
        self.linger().await;
        self.inner.delete(session, token).await?;
        self.linger().await;
        Ok(())
    }

    async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.inner.is_deleted(session).await
    }
}
