use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendReceipt, AppendRequest, EventPage, EventQuery, FencingToken, ForkRequest, HeldLease,
    Lease, LeaseOwner, NewSession, Sequence, SessionCursor, SessionPage, SessionQuery,
    SessionRecord, SessionStore, StoreError,
};
use everruns_core::workspace::WorkspaceBinding;

use super::bindings::IsolatedHeads;
use super::matching;
use super::record::Kept;

/// Keeps sessions in memory: they end with it.
#[derive(Debug, Default)]
pub struct InMemorySessionStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<SessionId, Kept>,
    heads: IsolatedHeads,
    /// The sessions in the order of their last change.
    by_change: BTreeSet<(Timestamp, SessionId)>,
    /// The ids of sessions that were deleted, with the greatest token ever given for each.
    deleted: HashMap<SessionId, u64>,
}

impl InMemorySessionStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is made by one statement after all checks, so that a panic leaves no half of it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn kept(&self, session: &SessionId) -> Result<&Kept, StoreError> {
        self.sessions.get(session).ok_or_else(|| not_found(session))
    }

    /// The greatest token ever given for this id by sessions that are deleted.
    fn last_token(&self, session: &SessionId) -> u64 {
        self.deleted.get(session).copied().unwrap_or_default()
    }

    fn kept_mut(&mut self, session: &SessionId) -> Result<&mut Kept, StoreError> {
        self.sessions
            .get_mut(session)
            .ok_or_else(|| not_found(session))
    }
}

fn not_found(session: &SessionId) -> StoreError {
    StoreError::NotFound {
        session: session.clone(),
    }
}

#[async_trait]
impl SessionStore for InMemorySessionStore {
    fn is_durable(&self) -> bool {
        false
    }

    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
        let mut state = self.lock();
        if state.sessions.contains_key(&session.id) {
            return Err(StoreError::AlreadyExists {
                session: session.id,
            });
        }
        let record = SessionRecord {
            id: session.id.clone(),
            title: session.title,
            agent: session.agent,
            created_at: session.created_at,
            updated_at: session.created_at,
            last_sequence: Sequence::START,
            binding: None,
        };
        state
            .by_change
            .insert((record.updated_at, session.id.clone()));
        let kept = Kept::new(record.clone(), state.last_token(&session.id));
        state.sessions.insert(session.id, kept);
        Ok(record)
    }

    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError> {
        let state = &mut *self.lock();
        match &state.kept(session)?.record.binding {
            Some(known) if *known == binding => return Ok(()),
            Some(known) => {
                return Err(StoreError::AlreadyBound {
                    session: session.clone(),
                    head: known.head_id.clone(),
                });
            }
            None => {}
        }
        state.heads.enter(session, &binding)?;
        state.kept_mut(session)?.record.binding = Some(binding);
        Ok(())
    }

    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        Ok(self.lock().kept(session)?.record.clone())
    }

    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        let state = self.lock();
        let limit = query.limit.max(1) as usize;
        let places = match &query.after {
            None => state.by_change.range(..),
            Some(after) => state
                .by_change
                .range(..(after.updated_at(), after.id().clone())),
        };
        let mut matching = places
            .rev()
            .filter_map(|(_, id)| state.sessions.get(id))
            .filter(|kept| matching::fits(kept, &query))
            .map(|kept| &kept.record);
        let sessions: Vec<_> = matching.by_ref().take(limit).cloned().collect();
        let next = matching
            .next()
            .and_then(|_| sessions.last())
            .map(SessionCursor::behind);
        Ok(SessionPage { sessions, next })
    }

    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError> {
        self.lock().kept_mut(session)?.record.title = Some(title.to_owned());
        Ok(())
    }

    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        let state = &mut *self.lock();
        let session = request.session.clone();
        let kept = state.kept_mut(&session)?;
        let before = kept.record.updated_at;
        let receipt = kept.append(request)?;
        let after = kept.record.updated_at;
        state.by_change.remove(&(before, session.clone()));
        state.by_change.insert((after, session));
        Ok(receipt)
    }

    async fn events(
        &self,
        session: &SessionId,
        query: EventQuery,
    ) -> Result<EventPage, StoreError> {
        Ok(self.lock().kept(session)?.page(query))
    }

    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        let state = &mut *self.lock();
        let source = state.kept(&request.source)?;
        let events = source.first(&request)?;
        source.check_token(request.token)?;
        let id = request.session.id.clone();
        if state.sessions.contains_key(&id) {
            return Err(StoreError::AlreadyExists { session: id });
        }
        state.heads.enter(&id, &request.binding)?;
        let kept = Kept::forked(request, events, state.last_token(&id));
        let record = kept.record.clone();
        state.by_change.insert((record.updated_at, id.clone()));
        state.sessions.insert(id, kept);
        Ok(record)
    }

    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let mut state = self.lock();
        state
            .kept_mut(session)?
            .lease_to(owner, None, now, duration)
    }

    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let mut state = self.lock();
        state
            .kept_mut(session)?
            .lease_to(owner, Some(held), now, duration)
    }

    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        if let Some(kept) = state.sessions.get_mut(session)
            && kept
                .lease
                .as_ref()
                .is_some_and(|lease| lease.token == token)
        {
            kept.lease = None;
        }
        Ok(())
    }

    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        let state = &mut *self.lock();
        let kept = state.kept(session)?;
        match token {
            Some(token) => kept.check_token(token)?,
            None => kept.check_free()?,
        }
        if let Some(binding) = kept.record.binding.clone() {
            state.heads.leave(session, &binding);
        }
        let place = (state.kept(session)?.record.updated_at, session.clone());
        state.by_change.remove(&place);
        if let Some(kept) = state.sessions.remove(session) {
            state.deleted.insert(session.clone(), kept.last_token);
        }
        Ok(())
    }

    async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError> {
        let state = self.lock();
        let deleted = state.deleted.contains_key(session);
        Ok(deleted && !state.sessions.contains_key(session))
    }
}
