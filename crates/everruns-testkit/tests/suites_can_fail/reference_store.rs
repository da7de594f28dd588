//! The smallest store that keeps the contract, with one promise broken on demand.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AppendReceipt, AppendRequest, EventPage, EventQuery, FencingToken, ForkRequest, HeldLease,
    Lease, LeaseOwner, NewSession, PageDirection, Sequence, SessionCursor, SessionEvent,
    SessionPage, SessionQuery, SessionRecord, SessionState, SessionStore, StoreError,
};
use everruns_core::workspace::{WorkspaceBinding, WorkspaceHeadAccess};

/// Which promise is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// None.
    #[default]
    None,
    /// Any token may append.
    NoFencing,
    /// A repeated key is applied again.
    ForgetsKeys,
    /// An isolated head is bound to any number of sessions.
    BindsTwice,
    /// The expected place is not looked at.
    IgnoresPlace,
    /// A takeover keeps the old token.
    ReusesTokens,
    /// A lease is taken from its holder by anybody.
    TakesLeases,
    /// Whoever lost the source's lease may fork it.
    ForksUnleased,
    /// A session that is being executed is deleted.
    DeletesLeased,
    /// A fork that is refused leaves a session.
    LeavesHalfForks,
    /// A page goes on from where its session is now.
    FollowsTheCursor,
    /// The time of the last change goes back with the clock of who appends.
    ChangesBackwards,
    /// A prefix is looked for without regard to case.
    IgnoresCase,
    /// A deleted session that nobody ever had a lease of is taken for one that never was.
    ForgetsUnleased,
    /// A session that is recorded again is still taken for a deleted one.
    DeletedForGood,
    /// Whatever is not recorded is taken for a deleted one.
    AbsentIsDeleted,
}

#[derive(Debug)]
struct Kept {
    record: SessionRecord,
    events: Vec<SessionEvent>,
    keys: BTreeMap<String, AppendReceipt>,
    lease: Option<Lease>,
    last_token: u64,
}

#[derive(Debug, Default)]
pub(crate) struct ReferenceStore {
    flaw: Flaw,
    sessions: Mutex<BTreeMap<SessionId, Kept>>,
    /// The greatest token ever given for each id that was deleted.
    deleted: Mutex<BTreeMap<SessionId, u64>>,
}

/// Whether a session is asked for, its id aside.
fn fits(kept: &Kept, query: &SessionQuery) -> bool {
    let record = &kept.record;
    let binding = record.binding.as_ref();
    let executes = |at| {
        kept.lease
            .as_ref()
            .is_some_and(|lease| lease.expires_at > at)
    };
    let title = || record.title.clone().map(|title| title.to_ascii_lowercase());
    [
        query
            .workspace
            .as_ref()
            .map(|wanted| binding.map(|binding| &binding.workspace_id) == Some(wanted)),
        query
            .head
            .as_ref()
            .map(|wanted| binding.map(|binding| &binding.head_id) == Some(wanted)),
        query
            .title
            .as_ref()
            .map(|part| title().is_some_and(|title| title.contains(&part.to_ascii_lowercase()))),
        query.agent.as_ref().map(|name| record.agent.name == *name),
        query.updated_since.map(|since| record.updated_at >= since),
        query.state.map(|state| match state {
            SessionState::Unbound => binding.is_none(),
            SessionState::Idle { at } => binding.is_some() && !executes(at),
            SessionState::Executing { at } => executes(at),
            _ => false,
        }),
    ]
    .into_iter()
    .flatten()
    .all(|fits| fits)
}

type Sessions<'a> = MutexGuard<'a, BTreeMap<SessionId, Kept>>;

impl ReferenceStore {
    pub(crate) fn with(flaw: Flaw) -> Self {
        Self {
            flaw,
            ..Self::default()
        }
    }

    fn lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        over: Option<&HeldLease>,
        mut expires_at: Timestamp,
    ) -> Result<Lease, StoreError> {
        let mut sessions = self.lock();
        let kept = kept(&mut sessions, session)?;
        let present = kept.lease.as_ref();
        let renewed = present.filter(|lease| lease.owner == *owner);
        if let Some(lease) = renewed {
            expires_at = expires_at.max(lease.expires_at.plus(Duration::from_millis(1)));
        } else {
            let may_go = |lease: &Lease| match over {
                _ if self.flaw == Flaw::TakesLeases => true,
                Some(over) => over.owner == lease.owner && over.expires_at == lease.expires_at,
                None => false,
            };
            if let Some(lease) = present.filter(|lease| !may_go(lease)) {
                return Err(held(lease));
            }
            if self.flaw != Flaw::ReusesTokens || kept.last_token == 0 {
                kept.last_token += 1;
            }
        }
        let lease = Lease {
            session: session.clone(),
            owner: owner.clone(),
            token: FencingToken(kept.last_token),
            expires_at,
        };
        kept.lease = Some(lease.clone());
        Ok(lease)
    }

    fn deleted(&self) -> MutexGuard<'_, BTreeMap<SessionId, u64>> {
        self.deleted.lock().expect("no holder of the lock panics")
    }

    fn lock(&self) -> Sessions<'_> {
        self.sessions.lock().expect("no holder of the lock panics")
    }

    /// Whether a session comes after a place in the list.
    fn is_behind(&self, kept: &Kept, after: &SessionCursor, sessions: &Sessions<'_>) -> bool {
        let follows = self.flaw == Flaw::FollowsTheCursor;
        let now = follows.then(|| sessions.get(after.id())).flatten();
        let at = now.map_or(after.updated_at(), |now| now.record.updated_at);
        (kept.record.updated_at, &kept.record.id) < (at, after.id())
    }
}

fn kept<'a>(sessions: &'a mut Sessions<'_>, id: &SessionId) -> Result<&'a mut Kept, StoreError> {
    sessions.get_mut(id).ok_or_else(|| StoreError::NotFound {
        session: id.clone(),
    })
}

fn check_token(kept: &Kept, token: FencingToken) -> Result<(), StoreError> {
    if kept.lease.as_ref().map(|lease| lease.token) == Some(token) {
        return Ok(());
    }
    Err(StoreError::Fenced {
        session: kept.record.id.clone(),
        presented: token,
    })
}

fn held(lease: &Lease) -> StoreError {
    StoreError::LeaseHeld {
        session: lease.session.clone(),
        owner: lease.owner.clone(),
        expires_at: lease.expires_at,
    }
}

fn limit(limit: u32) -> usize {
    usize::try_from(limit.max(1)).expect("a page is smaller than memory")
}

#[async_trait]
impl SessionStore for ReferenceStore {
    fn is_durable(&self) -> bool {
        false
    }

    async fn create(&self, session: NewSession) -> Result<SessionRecord, StoreError> {
        let mut sessions = self.lock();
        if sessions.contains_key(&session.id) {
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
        let last_token = self.deleted().get(&session.id).copied();
        let kept = Kept {
            record: record.clone(),
            events: Vec::new(),
            keys: BTreeMap::new(),
            lease: None,
            last_token: last_token
                .filter(|_| self.flaw != Flaw::ReusesTokens)
                .unwrap_or_default(),
        };
        sessions.insert(session.id, kept);
        Ok(record)
    }

    async fn bind(&self, session: &SessionId, binding: WorkspaceBinding) -> Result<(), StoreError> {
        let mut sessions = self.lock();
        if let Some(bound) = &kept(&mut sessions, session)?.record.binding {
            if *bound == binding {
                return Ok(());
            }
            return Err(StoreError::AlreadyBound {
                session: session.clone(),
                head: bound.head_id.clone(),
            });
        }
        let same = |other: &WorkspaceBinding| {
            other.head_id == binding.head_id && other.workspace_id == binding.workspace_id
        };
        let taken = sessions
            .values()
            .find(|kept| kept.record.binding.as_ref().is_some_and(same));
        let isolated = binding.access == WorkspaceHeadAccess::Isolated;
        if let Some(other) = taken.filter(|_| isolated && self.flaw != Flaw::BindsTwice) {
            return Err(StoreError::HeadBound {
                head: binding.head_id,
                session: other.record.id.clone(),
            });
        }
        kept(&mut sessions, session)?.record.binding = Some(binding);
        Ok(())
    }

    async fn session(&self, session: &SessionId) -> Result<SessionRecord, StoreError> {
        Ok(kept(&mut self.lock(), session)?.record.clone())
    }

    async fn sessions(&self, query: SessionQuery) -> Result<SessionPage, StoreError> {
        let loose = self.flaw == Flaw::IgnoresCase;
        let starts = |id: &str, prefix: &str| {
            id.starts_with(prefix)
                || (loose && id.to_lowercase().starts_with(&prefix.to_lowercase()))
        };
        let sessions = self.lock();
        let mut all: Vec<&Kept> = sessions.values().collect();
        all.sort_by_key(|kept| Reverse((kept.record.updated_at, &kept.record.id)));
        let after = query.after.as_ref();
        let mut found: Vec<_> = all
            .into_iter()
            .filter(|kept| after.is_none_or(|after| self.is_behind(kept, after, &sessions)))
            .filter(|kept| fits(kept, &query))
            .filter(|kept| {
                let prefix = query.id_prefix.as_ref();
                prefix.is_none_or(|prefix| starts(kept.record.id.as_str(), prefix))
            })
            .map(|kept| kept.record.clone())
            .collect();
        let more = found.len() > limit(query.limit);
        found.truncate(limit(query.limit));
        let next = found.last().filter(|_| more).map(SessionCursor::behind);
        Ok(SessionPage {
            sessions: found,
            next,
        })
    }

    async fn set_title(&self, session: &SessionId, title: &str) -> Result<(), StoreError> {
        kept(&mut self.lock(), session)?.record.title = Some(title.to_owned());
        Ok(())
    }

    async fn append(&self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        let (session, presented) = (request.session.clone(), request.token);
        let mut sessions = self.lock();
        let kept = kept(&mut sessions, &session)?;
        let known = kept.keys.get(&request.idempotency_key);
        if let Some(receipt) = known.filter(|_| self.flaw != Flaw::ForgetsKeys) {
            return Ok(AppendReceipt {
                replayed: true,
                ..*receipt
            });
        }
        let present = kept.lease.as_ref().map(|lease| lease.token);
        if present != Some(presented) && self.flaw != Flaw::NoFencing {
            return Err(StoreError::Fenced { session, presented });
        }
        let actual = kept.record.last_sequence;
        let loose = matches!(self.flaw, Flaw::IgnoresPlace | Flaw::ForgetsKeys);
        if actual != request.expected && !loose {
            let expected = request.expected;
            return Err(StoreError::SequenceConflict {
                session,
                expected,
                actual,
            });
        }
        let first = actual.next();
        for payload in request.events {
            let sequence = kept.record.last_sequence.next();
            kept.events.push(SessionEvent {
                sequence,
                at: request.at,
                payload,
            });
            kept.record.last_sequence = sequence;
        }
        kept.record.updated_at = if self.flaw == Flaw::ChangesBackwards {
            request.at
        } else {
            kept.record.updated_at.max(request.at)
        };
        let receipt = AppendReceipt {
            first,
            last: kept.record.last_sequence,
            replayed: false,
        };
        kept.keys.insert(request.idempotency_key, receipt);
        Ok(receipt)
    }

    async fn events(
        &self,
        session: &SessionId,
        query: EventQuery,
    ) -> Result<EventPage, StoreError> {
        let mut sessions = self.lock();
        let all = kept(&mut sessions, session)?.events.iter().cloned();
        let mut events: Vec<_> = match query.direction {
            PageDirection::Forward => {
                let from = query.from.unwrap_or_default();
                all.filter(|event| event.sequence > from).collect()
            }
            PageDirection::Backward => {
                let before =
                    |event: &SessionEvent| query.from.is_none_or(|from| event.sequence < from);
                all.rev().filter(before).collect()
            }
        };
        let more = events.len() > limit(query.limit);
        events.truncate(limit(query.limit));
        let next = events.last().filter(|_| more).map(|event| event.sequence);
        Ok(EventPage { events, next })
    }

    async fn fork(&self, request: ForkRequest) -> Result<SessionRecord, StoreError> {
        let (source, id) = (request.source, request.session.id.clone());
        let taken = {
            let mut sessions = self.lock();
            let source = kept(&mut sessions, &source)?;
            let actual = source.record.last_sequence;
            if request.through > actual {
                return Err(StoreError::SequenceConflict {
                    session: source.record.id.clone(),
                    expected: request.through,
                    actual,
                });
            }
            if self.flaw != Flaw::ForksUnleased {
                check_token(source, request.token)?;
            }
            let taken = source.events.iter();
            let taken = taken.filter(|event| event.sequence <= request.through);
            taken.cloned().collect::<Vec<_>>()
        };
        let at = request.session.created_at;
        self.create(request.session).await?;
        if let Err(error) = self.bind(&id, request.binding).await {
            if self.flaw != Flaw::LeavesHalfForks {
                self.lock().remove(&id);
            }
            return Err(error);
        }
        let mut sessions = self.lock();
        let made = kept(&mut sessions, &id)?;
        made.events = taken;
        let mut sequence = request.through;
        for payload in request.events {
            sequence = sequence.next();
            made.events.push(SessionEvent {
                sequence,
                at,
                payload,
            });
        }
        made.record.last_sequence = sequence;
        Ok(made.record.clone())
    }

    async fn acquire_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        self.lease(session, owner, None, now.plus(duration))
    }

    async fn take_over_lease(
        &self,
        session: &SessionId,
        owner: &LeaseOwner,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        self.lease(session, owner, Some(held), now.plus(duration))
    }

    async fn release_lease(
        &self,
        session: &SessionId,
        token: FencingToken,
    ) -> Result<(), StoreError> {
        if let Some(kept) = self.lock().get_mut(session) {
            kept.lease.take_if(|lease| lease.token == token);
        }
        Ok(())
    }

    async fn delete(
        &self,
        session: &SessionId,
        token: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        let mut sessions = self.lock();
        let kept = kept(&mut sessions, session)?;
        match (token, &kept.lease) {
            (Some(token), _) => check_token(kept, token)?,
            (None, Some(lease)) if self.flaw != Flaw::DeletesLeased => return Err(held(lease)),
            _ => {}
        }
        let last_token = kept.last_token;
        sessions.remove(session);
        self.deleted().insert(session.clone(), last_token);
        Ok(())
    }

    async fn is_deleted(&self, session: &SessionId) -> Result<bool, StoreError> {
        let sessions = self.lock();
        let left = self.deleted().get(session).copied();
        let is_recorded = sessions.contains_key(session);
        Ok(match self.flaw {
            Flaw::ForgetsUnleased => !is_recorded && left.is_some_and(|token| token > 0),
            Flaw::DeletedForGood => left.is_some(),
            Flaw::AbsentIsDeleted => !is_recorded,
            _ => !is_recorded && left.is_some(),
        })
    }
}
