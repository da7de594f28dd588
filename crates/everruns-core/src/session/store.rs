use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    EventPage, EventPayload, EventQuery, FencingToken, HeldLease, Lease, LeaseOwner, NewSession,
    Sequence, SessionPage, SessionQuery, SessionRecord, StoreError,
};
use crate::clock::Timestamp;
use crate::ids::SessionId;
use crate::workspace::WorkspaceBinding;

/// Events to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendRequest {
    /// The session.
    pub session: SessionId,
    /// The token of the caller's lease.
    pub token: FencingToken,
    /// The place of the last event that the caller knows.
    pub expected: Sequence,
    /// Names this request: a repetition with the same key is answered, not applied again.
    pub idempotency_key: String,
    /// When it happens.
    pub at: Timestamp,
    /// What happened, at least one event.
    pub events: Vec<EventPayload>,
}

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendReceipt {
    /// The place of the first event appended.
    pub first: Sequence,
    /// The place of the last event appended.
    pub last: Sequence,
    /// Whether an earlier request with the same key had appended them.
    pub replayed: bool,
}

/// A session to be made of another one's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkRequest {
    /// The session whose events are taken over.
    pub source: SessionId,
    /// The token of the caller's lease of it.
    pub token: FencingToken,
    /// The last of them.
    pub through: Sequence,
    /// The session to be made.
    pub session: NewSession,
    /// Its head.
    pub binding: WorkspaceBinding,
    /// Events that follow those of the source, at the time of the new session's making.
    pub events: Vec<EventPayload>,
}

/// Keeps sessions.
///
/// # What every store guarantees
///
/// * A change that was acknowledged is durable as far as [`is_durable`](Self::is_durable) says, and is seen by
///   every later read, also from other processes.
/// * Every call is atomic. Dropping its future leaves the state before or after it, and the change may still come
///   when later calls have returned; an append can be repeated with its key to learn which.
/// * An isolated head is bound to one session at most: a constraint of the store, not a check before a write.
/// * Events are never changed or removed, apart from [`delete`](Self::delete) of their session, and their
///   sequence numbers have no gaps.
///
/// # What is the engine's
///
/// A store judges no events: what they mean is the engine's, and works on any store.
///
/// * A turn that a crash interrupted is closed when its session is resumed, by an append under the lease like any other:
///   calls without a result get one that says that its outcome is unknown, and the turn ends as interrupted.
/// * A session is deleted after its user has confirmed it, and its head has been freed. [`delete`](Self::delete) asks for
///   nothing, and only refuses while a lease runs.
///
/// `everruns-testkit` has the conformance suite that every store passes, [`fork`](Self::fork) included.
#[async_trait]
pub trait SessionStore: Send + Sync + Debug {
    /// Whether sessions survive the end of this process.
    fn is_durable(&self) -> bool;

    /// Records a session without a binding.
    ///
    /// # Errors
    /// `AlreadyExists`, and the store's own.
    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError>;

    /// Binds a session to a head, once. The same binding again is no error.
    ///
    /// # Errors
    /// `NotFound`; `AlreadyBound` when the session has another binding; `HeadBound` when the head is isolated and
    /// another session has it; and the store's own.
    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError>;

    /// What is known of a session.
    ///
    /// # Errors
    /// `NotFound`, `CorruptRecord`, and the store's own.
    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError>;

    /// Lists sessions, the most recently changed first.
    ///
    /// Each page is one consistent view. A page goes on from a place in the order, not from a session: pages that
    /// follow one another show no session twice, whatever changes or is deleted meanwhile, and all sessions that do
    /// not change meanwhile. A session that changes moves to the front, where a new listing begins.
    ///
    /// # Errors
    /// The store's own.
    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError>;

    /// Changes a session's title.
    ///
    /// # Errors
    /// `NotFound`, and the store's own.
    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError>;

    /// Appends events.
    ///
    /// # Errors
    /// `NotFound`; `Fenced` when `token` is not of the present lease; `SequenceConflict` when `expected` is not the
    /// last place; and the store's own. A request whose key was applied before is answered with its receipt.
    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError>;

    /// Reads events.
    ///
    /// # Errors
    /// `NotFound`, `CorruptRecord`, and the store's own.
    async fn events(&self, session: &SessionId, query: EventQuery)
    -> Result<EventPage, StoreError>;

    /// Makes a session with the first events of another one, bound to a head of its own: all of it or nothing.
    ///
    /// Places and times of the events are those of the source, their idempotency keys are not taken over.
    ///
    /// Optional: the default refuses, and then sessions cannot be forked. Such a store passes the suite but for the checks
    /// of forks.
    ///
    /// # Errors
    /// `NotFound` when there is no such source; `Fenced` when `token` is not of its present lease; `SequenceConflict` when it has fewer events; `AlreadyExists`;
    /// `HeadBound`; and the store's own.
    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        Err(StoreError::Failed {
            operation: "fork a session",
            source: format!("this store cannot make {}", request.session.id).into(),
        })
    }

    /// Takes the session's lease when nobody holds it, with a greater token than any before, or renews it for its
    /// present owner with the same token.
    ///
    /// It ends at `now` and `duration`, or just after its former end if that is later: every renewal gives it another
    /// end. A store compares no clocks: the lease of another owner stays theirs, whenever it ends, until it is given up or
    /// [taken over](Self::take_over_lease).
    ///
    /// A lease need not survive a failure of the host or of the database's server, apart from what every change that is
    /// acknowledged under it vouches for: no token is given to two owners.
    ///
    /// # Errors
    /// `NotFound`; `LeaseHeld` while another owner has it; and the store's own.
    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError>;

    /// As [`acquire_lease`](Self::acquire_lease), also when another owner has the lease, if that is still just as `held`
    /// says. The caller knows that its holder is gone, or has seen it unrenewed for as long as it runs.
    ///
    /// # Errors
    /// As for [`acquire_lease`](Self::acquire_lease); `LeaseHeld` with what is there when the lease was renewed or is a
    /// third one's by now.
    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError>;

    /// Gives up a lease; one that is no longer held is no error.
    ///
    /// # Errors
    /// The store's own.
    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError>;

    /// Removes a session with its binding, events and lease. Its head is not touched.
    ///
    /// That there was a session of this id stays known, as [`is_deleted`](Self::is_deleted) tells, and so does the greatest
    /// token of its leases.
    ///
    /// # Errors
    /// `NotFound`; `LeaseHeld` when someone has its lease and no `token` is given; `Fenced` when `token` is not of the
    /// present lease; and the store's own.
    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError>;

    /// Whether a session of this id was recorded and deleted, and none is recorded now. `false` where one is recorded, and
    /// where there never was one.
    ///
    /// Whoever finds something half done for a session that is [`NotFound`](StoreError::NotFound) learns here whether it was
    /// never made, or made and deleted by its user, who keeps what it left. So an answer is never forgotten, whether or not the
    /// session ever had a lease, and a copy of the store gives the same.
    ///
    /// # Errors
    /// The store's own.
    async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError>;
}
