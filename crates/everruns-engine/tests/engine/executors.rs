//! Two engines that execute one session, as on two hosts: their clocks do not agree, and now and then one of them cannot
//! reach the store.

mod elsewhere;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use everruns_core::clock::{Clock, Timestamp};
use everruns_core::ids::SessionId;
use everruns_core::model::{
    Message, ModelError, ModelEvent, ModelProvider, ModelRequest, ModelStream, StopReason,
    ToolCall, ToolSpec, Usage,
};
use everruns_core::session::{EventPayload, EventQuery, Sequence, SessionStore, TurnOutcome};
use everruns_core::workspace::WorkspaceBackend;
use everruns_engine::{
    Agent, Engine, InMemorySessionStore, Session, Tool, ToolContext, ToolError, ToolOutput,
};
use futures::{StreamExt as _, stream};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::elsewhere::Elsewhere;
use crate::support::{head, memory};

const LEASE: Duration = Duration::from_secs(1);

/// The time that passes, and an hour or so.
#[derive(Debug)]
struct Skewed {
    began: Instant,
    skew: i64,
}

impl Clock for Skewed {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.began.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(10_000_000 + passed + self.skew)
    }
}

/// Works for as long as it is told, at the one thing that only one may work at.
#[derive(Clone, Debug, Default)]
struct Work {
    busy: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    done: Arc<AtomicI64>,
}

struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for Work {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "work".to_owned(),
            description: "Works.".to_owned(),
            input_schema: json!({"type": "object"}),
        }
    }

    async fn call(&self, _: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let now = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        let _leaves = Leaves(&self.busy);
        self.most.fetch_max(now, Ordering::SeqCst);
        let millis = arguments["millis"].as_u64().unwrap();
        tokio::time::sleep(Duration::from_millis(millis)).await;
        self.done.fetch_add(1, Ordering::SeqCst);
        Ok("done".into())
    }
}

/// Has the work done that the message asks for, and then says so.
#[derive(Clone, Debug)]
struct Foreman;

#[async_trait]
impl ModelProvider for Foreman {
    fn name(&self) -> &'static str {
        "foreman"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (event, stop) = match request.messages.last() {
            Some(Message::User { text }) => {
                let call = ToolCall {
                    id: format!("call-{}", request.messages.len()),
                    name: "work".to_owned(),
                    arguments: json!({"millis": text.parse::<u64>().unwrap()}),
                };
                (ModelEvent::ToolCall(call), StopReason::ToolCalls)
            }
            _ => (ModelEvent::TextDelta("Done.".into()), StopReason::EndTurn),
        };
        let usage = Usage::default();
        let end = ModelEvent::End { stop, usage };
        Ok(stream::iter([Ok(event), Ok(end)]).boxed())
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    /// A turn that works for so many milliseconds is begun, if the session can be had.
    Send(usize, u64),
    /// The store can be reached from there, or not.
    Reach(usize, bool),
    Pass(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..2_usize, 0..2_500_u64).prop_map(|(who, millis)| Act::Send(who, millis)),
        2 => (0..2_usize, any::<bool>()).prop_map(|(who, can)| Act::Reach(who, can)),
        3 => (1..1_500_u64).prop_map(Act::Pass),
    ]
}

/// One engine, on a host of its own.
struct Host {
    store: Arc<Elsewhere>,
    engine: Engine,
}

impl Host {
    fn new(name: &str, inner: &Arc<InMemorySessionStore>, skew: i64) -> Self {
        let store = Arc::new(Elsewhere::new(name, Arc::clone(inner)));
        let clock = Skewed {
            began: Instant::now(),
            skew,
        };
        let engine = Engine::builder()
            .store(Arc::clone(&store) as Arc<dyn SessionStore>)
            .clock(Arc::new(clock))
            .lease_duration(LEASE)
            .build();
        Self { store, engine }
    }
}

struct World {
    inner: Arc<InMemorySessionStore>,
    backend: Arc<dyn WorkspaceBackend>,
    work: Work,
    hosts: [Host; 2],
    session: SessionId,
    /// Each tells the number of its turn, if that succeeded.
    turns: JoinSet<Option<u64>>,
}

impl World {
    async fn new(skews: [i64; 2]) -> Self {
        let inner = Arc::new(InMemorySessionStore::new());
        let [a, b] = skews;
        let hosts = [Host::new("a", &inner, a), Host::new("b", &inner, b)];
        let (backend, work) = (memory(), Work::default());
        let session = hosts[0]
            .engine
            .create(agent(&work, &backend))
            .workspace(head(&backend, "x").await);
        session.start().await.unwrap();
        let id = session.session_id().clone();
        session.close().await;
        for host in &hosts {
            host.engine.attach(&id, agent(&work, &backend));
        }
        Self {
            inner,
            backend,
            work,
            hosts,
            session: id,
            turns: JoinSet::new(),
        }
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Pass(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
            Act::Reach(who, can) => self.hosts[who].store.reach(can),
            Act::Send(who, millis) => {
                let (engine, id) = (self.hosts[who].engine.clone(), self.session.clone());
                self.turns
                    .spawn(async move { send(&engine, &id, millis).await });
            }
        }
    }

    /// Everybody can reach the store again, and whoever then comes goes on with what is there.
    async fn end(mut self) -> Result<(), TestCaseError> {
        for host in &self.hosts {
            host.store.reach(true);
        }
        let mut succeeded = BTreeSet::new();
        while let Some(turn) = self.turns.join_next().await {
            succeeded.extend(turn.unwrap());
        }
        let last = Host::new("c", &self.inner, 0);
        let agent = agent(&self.work, &self.backend);
        last.engine.attach(&self.session, agent);
        let number = send(&last.engine, &self.session, 1).await;
        prop_assert!(number.is_some(), "the last turn");
        succeeded.extend(number);
        let all = EventQuery::after(Sequence::START, u32::MAX);
        let events = self.inner.events(&self.session, all).await.unwrap().events;
        let mut open = None;
        let mut completed = BTreeSet::new();
        for (place, event) in (1..).zip(&events) {
            prop_assert_eq!(event.sequence, Sequence(place));
            match &event.payload {
                EventPayload::TurnStarted { turn } => {
                    prop_assert_eq!(open.replace(*turn), None, "a turn within a turn");
                }
                EventPayload::TurnEnded { turn, outcome } => {
                    prop_assert_eq!(open.take(), Some(*turn));
                    if *outcome == TurnOutcome::Completed {
                        completed.insert(*turn);
                    }
                }
                _ => {}
            }
        }
        prop_assert!(open.is_none());
        prop_assert!(
            completed.is_superset(&succeeded),
            "{succeeded:?} succeeded, {completed:?} on record"
        );
        prop_assert!(
            self.work.most.load(Ordering::SeqCst) <= 1,
            "two executors were at work at once"
        );
        Ok(())
    }
}

fn agent(work: &Work, backend: &Arc<dyn WorkspaceBackend>) -> Agent {
    Agent::builder()
        .provider(Foreman)
        .model("m")
        .tool(work.clone())
        .workspace_backend(Arc::clone(backend))
        .build()
        .unwrap()
}

/// The number of the turn, if it succeeded.
async fn send(engine: &Engine, id: &SessionId, millis: u64) -> Option<u64> {
    let session: Session = engine.resume(id).await.ok()?;
    let turn = session.send_and_wait(millis.to_string()).await.ok()?;
    turn.success.then_some(turn.number)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves H53 for engines: however wrong the clocks are and whoever cannot reach the store, one executes at a time, what
    /// succeeded is on record, and the session goes on.
    #[test]
    fn h53_one_of_two_executors_works_at_a_time(
        acts in prop::collection::vec(act(), 1..25),
        skews in prop_oneof![Just([0, 0]), [-5_000_000_i64..5_000_000, -5_000_000_i64..5_000_000]],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut world = World::new(skews).await;
            for act in acts {
                world.act(act).await;
            }
            world.end().await
        })?;
    }
}
