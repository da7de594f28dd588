use std::collections::HashMap;
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::session::{
    AppendReceipt, AppendRequest, EventPage, EventQuery, FencingToken, ForkRequest, HeldLease,
    Lease, LeaseOwner, PageDirection, Sequence, SessionEvent, SessionRecord, StoreError,
};

/// All that is kept of one session.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) record: SessionRecord,
    pub(super) events: Vec<SessionEvent>,
    pub(super) lease: Option<Lease>,
    /// The greatest token ever given for the id.
    pub(super) last_token: u64,
    receipts: HashMap<String, AppendReceipt>,
}

impl Kept {
    pub(super) fn new(record: SessionRecord, last_token: u64) -> Self {
        Self {
            record,
            events: Vec::new(),
            lease: None,
            last_token,
            receipts: HashMap::new(),
        }
    }

    /// A session of another one's `events`.
    pub(super) fn forked(
        request: ForkRequest,
        mut events: Vec<SessionEvent>,
        last_token: u64,
    ) -> Self {
        let at = request.session.created_at;
        let mut last = request.through;
        for payload in request.events {
            last = last.next();
            events.push(SessionEvent {
                sequence: last,
                at,
                payload,
            });
        }
        let record = SessionRecord {
            id: request.session.id,
            title: request.session.title,
            agent: request.session.agent,
            created_at: at,
            updated_at: at,
            last_sequence: last,
            binding: Some(request.binding),
        };
        Self {
            events,
            ..Self::new(record, last_token)
        }
    }

    /// The events that a fork takes over.
    pub(super) fn first(&self, request: &ForkRequest) -> Result<Vec<SessionEvent>, StoreError> {
        let actual = self.record.last_sequence;
        if request.through > actual {
            return Err(StoreError::SequenceConflict {
                session: request.source.clone(),
                expected: request.through,
                actual,
            });
        }
        let taken = |event: &&SessionEvent| event.sequence <= request.through;
        Ok(self.events.iter().take_while(taken).cloned().collect())
    }

    /// Gives the lease to `owner`, also in the place of the one that is `held`.
    pub(super) fn lease_to(
        &mut self,
        owner: &LeaseOwner,
        held: Option<&HeldLease>,
        now: Timestamp,
        duration: Duration,
    ) -> Result<Lease, StoreError> {
        let end = now.plus(duration);
        let (token, expires_at) = match &self.lease {
            Some(own) if own.owner == *owner => {
                let later = own.expires_at.plus(Duration::from_millis(1));
                (own.token, end.max(later))
            }
            other => {
                let may_go = |other: &Lease| {
                    held.is_some_and(|held| {
                        held.owner == other.owner && held.expires_at == other.expires_at
                    })
                };
                if !other.as_ref().is_none_or(may_go) {
                    self.check_free()?;
                }
                self.last_token += 1;
                (FencingToken(self.last_token), end)
            }
        };
        let lease = Lease {
            session: self.record.id.clone(),
            owner: owner.clone(),
            token,
            expires_at,
        };
        self.lease = Some(lease.clone());
        Ok(lease)
    }

    /// Refuses while somebody has the lease.
    pub(super) fn check_free(&self) -> Result<(), StoreError> {
        let Some(lease) = &self.lease else {
            return Ok(());
        };
        Err(StoreError::LeaseHeld {
            session: self.record.id.clone(),
            owner: lease.owner.clone(),
            expires_at: lease.expires_at,
        })
    }

    /// Refuses unless `token` is of the present lease.
    pub(super) fn check_token(&self, token: FencingToken) -> Result<(), StoreError> {
        if self.lease.as_ref().map(|lease| lease.token) == Some(token) {
            return Ok(());
        }
        Err(StoreError::Fenced {
            session: self.record.id.clone(),
            presented: token,
        })
    }

    pub(super) fn append(&mut self, request: AppendRequest) -> Result<AppendReceipt, StoreError> {
        if let Some(receipt) = self.receipts.get(&request.idempotency_key) {
            return Ok(AppendReceipt {
                replayed: true,
                ..*receipt
            });
        }
        self.check_token(request.token)?;
        let last = self.record.last_sequence;
        if request.expected != last {
            return Err(StoreError::SequenceConflict {
                session: request.session,
                expected: request.expected,
                actual: last,
            });
        }
        if request.events.is_empty() {
            return Err(StoreError::Failed {
                operation: "append events",
                source: "there are none to append".into(),
            });
        }
        let mut sequence = last;
        for payload in request.events {
            sequence = sequence.next();
            self.events.push(SessionEvent {
                sequence,
                at: request.at,
                payload,
            });
        }
        self.record.last_sequence = sequence;
        self.record.updated_at = self.record.updated_at.max(request.at);
        let receipt = AppendReceipt {
            first: last.next(),
            last: sequence,
            replayed: false,
        };
        self.receipts.insert(request.idempotency_key, receipt);
        Ok(receipt)
    }

    pub(super) fn page(&self, query: EventQuery) -> EventPage {
        let limit = query.limit.max(1) as usize;
        let position = |sequence: Sequence| {
            let events = usize::try_from(sequence.0).unwrap_or(usize::MAX);
            events.min(self.events.len())
        };
        let (events, more): (Vec<_>, bool) = match query.direction {
            PageDirection::Forward => {
                let start = position(query.from.unwrap_or(Sequence::START));
                let rest = &self.events[start..];
                (
                    rest.iter().take(limit).cloned().collect(),
                    rest.len() > limit,
                )
            }
            PageDirection::Backward => {
                let end = query.from.map_or(self.events.len(), |from| {
                    position(Sequence(from.0.saturating_sub(1)))
                });
                let rest = &self.events[..end];
                (
                    rest.iter().rev().take(limit).cloned().collect(),
                    rest.len() > limit,
                )
            }
        };
        let next = events.last().filter(|_| more).map(|event| event.sequence);
        EventPage { events, next }
    }
}
