//! Two executors of one session in every order of steps, with clocks that do not agree.

use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AgentSummary, AppendRequest, EventPayload, FencingToken, HeldLease, LeaseOwner, NewSession,
    Sequence, SessionStore as _, StoreError,
};
use everruns_engine::InMemorySessionStore;
use proptest::prelude::*;

const TERM: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
enum Act {
    Acquire(usize),
    /// Of the lease as it was last seen.
    TakeOver(usize),
    Append(usize),
    Release(usize),
    Pass(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (0..2_usize).prop_map(Act::Acquire),
        2 => (0..2_usize).prop_map(Act::TakeOver),
        4 => (0..2_usize).prop_map(Act::Append),
        1 => (0..2_usize).prop_map(Act::Release),
        2 => (1..1_500_u64).prop_map(Act::Pass),
    ]
}

/// One process: what it believes.
#[derive(Clone, Debug)]
struct Executor {
    owner: LeaseOwner,
    /// How far its clock is off, in milliseconds.
    skew: i64,
    token: Option<FencingToken>,
    known: Sequence,
    expires_at: Timestamp,
    /// The other's lease.
    seen: Option<HeldLease>,
}

struct World {
    store: InMemorySessionStore,
    session: SessionId,
    executors: Vec<Executor>,
    now: i64,
    greatest: Option<FencingToken>,
    appended: u64,
}

impl World {
    async fn new(skews: [i64; 2]) -> Self {
        let store = InMemorySessionStore::new();
        let session = SessionId::new("ses_x").unwrap();
        let new = NewSession {
            id: session.clone(),
            title: None,
            agent: AgentSummary::default(),
            created_at: Timestamp::default(),
        };
        store.create(new).await.unwrap();
        let executor = |(number, skew)| Executor {
            owner: LeaseOwner(format!("process {number}")),
            skew,
            token: None,
            known: Sequence::START,
            expires_at: Timestamp::default(),
            seen: None,
        };
        Self {
            store,
            session,
            executors: (0..).zip(skews).map(executor).collect(),
            now: 1_000_000,
            greatest: None,
            appended: 0,
        }
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Pass(millis) => self.now += i64::try_from(millis).unwrap(),
            Act::Acquire(who) => self.acquire(who, None).await,
            Act::TakeOver(who) => {
                let seen = self.executors[who].seen.take();
                self.acquire(who, seen).await;
            }
            Act::Append(who) => self.append(who).await,
            Act::Release(who) => {
                if let Some(token) = self.executors[who].token.take() {
                    self.store
                        .release_lease(&self.session, token)
                        .await
                        .unwrap();
                }
            }
        }
    }

    async fn acquire(&mut self, who: usize, over: Option<HeldLease>) {
        let other = self.executors[1 - who].clone();
        let me = &mut self.executors[who];
        let now = Timestamp::from_millis(self.now + me.skew);
        let (store, session, owner) = (&self.store, &self.session, &me.owner);
        let taken = match &over {
            Some(held) => store.take_over_lease(session, owner, held, now, TERM).await,
            None => store.acquire_lease(session, owner, now, TERM).await,
        };
        match taken {
            Ok(lease) => {
                let kept = me.token == Some(lease.token);
                assert!(
                    kept || self.greatest.is_none_or(|greatest| lease.token > greatest),
                    "a new holder gets a greater token"
                );
                assert!(self.greatest.is_none_or(|greatest| lease.token >= greatest));
                assert!(!kept || lease.expires_at > me.expires_at, "renewed unseen");
                if other.token.is_some() && other.token == self.greatest && !kept {
                    let held = HeldLease {
                        owner: other.owner,
                        expires_at: other.expires_at,
                    };
                    assert_eq!(over, Some(held), "a lease was taken that was not seen");
                }
                self.greatest = Some(lease.token);
                me.token = Some(lease.token);
                me.expires_at = lease.expires_at;
                let record = self.store.session(&self.session).await.unwrap();
                me.known = record.last_sequence;
            }
            Err(StoreError::LeaseHeld {
                owner, expires_at, ..
            }) => {
                assert_eq!(owner, other.owner);
                me.seen = Some(HeldLease { owner, expires_at });
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// However wrong the clocks are, only the present holder appends, and nothing is lost or doubled.
    async fn append(&mut self, who: usize) {
        let me = &mut self.executors[who];
        let Some(token) = me.token else {
            return;
        };
        self.appended += 1;
        let request = AppendRequest {
            session: self.session.clone(),
            token,
            expected: me.known,
            idempotency_key: format!("key {}", self.appended),
            at: Timestamp::from_millis(self.now + me.skew),
            events: vec![EventPayload::UserMessage {
                text: format!("{who}"),
            }],
        };
        match self.store.append(request).await {
            Ok(receipt) => {
                assert_eq!(
                    Some(token),
                    self.greatest,
                    "a holder of the past has written"
                );
                assert_eq!(receipt.first, me.known.next());
                me.known = receipt.last;
            }
            Err(StoreError::Fenced { .. }) => {
                assert_ne!(
                    Some(token),
                    self.greatest,
                    "the present holder is fenced off"
                );
                me.token = None;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves H53
    #[test]
    fn h53_whoever_was_taken_over_from_writes_nothing_more(
        acts in prop::collection::vec(act(), 1..60),
        skews in prop_oneof![Just([0, 0]), [-5_000_i64..5_000, -5_000_i64..5_000]],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new(skews).await;
            for act in acts {
                world.act(act).await;
            }
        });
    }
}
