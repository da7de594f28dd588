//! Futures of sessions and engines that are dropped after each number of polls.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use everruns_core::session::{EventPayload, Sequence, SessionQuery, SessionStore, StoreError};
use everruns_core::workspace::WorkspaceBackend;
use everruns_engine::engine::DeleteError;
use everruns_engine::{Agent, Engine, Session};
use serde_json::json;

use crate::support::{
    Echo, Script, Step, Yielding, agent_of, engine_over, head, kinds, memory, recorded,
};

/// More polls than any operation here takes to its end.
const MANY: usize = 500;
/// Nobody may have to wait until a lease expires.
const SOON: Duration = Duration::from_millis(1_500);

/// Polls until `polls` polls or the end, with all other tasks going on between, then drops. `true` when it ended.
async fn poll_and_drop<F: Future>(future: F, polls: usize) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let ended = poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await;
        if ended {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

/// A session of one turn, in an engine over a store that lets others run at each of its steps.
struct Scene {
    store: Arc<dyn SessionStore>,
    backend: Arc<dyn WorkspaceBackend>,
    engine: Engine,
    session: Session,
}

fn script() -> Script {
    let call = || Step::Call(vec![("echo", json!({}))]);
    Script::new((0..10).flat_map(|_| [call(), Step::Say("Done.")]))
}

fn agent(backend: &Arc<dyn WorkspaceBackend>) -> Agent {
    agent_of(&script())
        .tool(Echo::default())
        .workspace_backend(Arc::clone(backend))
        .build()
        .unwrap()
}

impl Scene {
    async fn unstarted() -> Self {
        let (store, backend) = (Yielding::store(), memory());
        let engine = engine_over(&store);
        let session = engine
            .create(agent(&backend))
            .workspace(head(&backend, "main").await);
        Self {
            store,
            backend,
            engine,
            session,
        }
    }

    async fn used() -> Self {
        let scene = Self::unstarted().await;
        let turn = scene.session.send_and_wait("First.").await.unwrap();
        assert!(turn.success);
        scene
    }

    /// The session as another engine has it, at once, without waiting for any lease to expire.
    async fn elsewhere(&self) -> Session {
        let engine = engine_over(&self.store);
        let id = self.session.session_id();
        engine.attach(id, agent(&self.backend));
        let resumed = tokio::time::timeout(SOON, Box::pin(engine.resume(id))).await;
        resumed.expect("no lease is left").unwrap()
    }

    /// The session goes on here and, once closed, elsewhere; every turn that began has ended, and its calls have
    /// their results.
    async fn assert_sound(&self) {
        assert!(self.session.send_and_wait("Go on.").await.unwrap().success);
        self.session.close().await;
        let other = self.elsewhere().await;
        assert!(other.send_and_wait("Go on.").await.unwrap().success);
        let (mut open, mut calls) = (None, Vec::new());
        for event in recorded(&other).await {
            match event {
                EventPayload::TurnStarted { turn } => {
                    assert_eq!(open.replace(turn), None, "one turn after the other");
                }
                EventPayload::TurnEnded { turn, .. } => assert_eq!(open.take(), Some(turn)),
                EventPayload::AssistantMessage { tool_calls, .. } => {
                    assert!(calls.is_empty());
                    calls = tool_calls.into_iter().map(|call| call.id).collect();
                }
                EventPayload::ToolResult { call_id, .. } => {
                    assert!(calls.contains(&call_id));
                    calls.retain(|id| *id != call_id);
                }
                _ => {}
            }
        }
        assert_eq!((open, calls.len()), (None, 0));
        other.close().await;
    }

    async fn count(&self, kind: &str) -> usize {
        let kinds = kinds(&self.session).await;
        kinds.iter().filter(|other| *other == kind).count()
    }

    async fn sessions(&self) -> usize {
        let page = self.store.sessions(SessionQuery::default()).await.unwrap();
        page.sessions.len()
    }

    async fn heads(&self) -> usize {
        let head = self.session.workspace_head().unwrap();
        let heads = self.backend.heads(head.workspace_id()).await.unwrap();
        heads.len()
    }
}

/// Runs `test` with ever more polls, until one of them lets the operation come to its end.
async fn at_every_await(test: impl AsyncFn(usize) -> bool) {
    for polls in 0..MANY {
        if test(polls).await {
            assert!(polls > 2, "nothing was dropped in the middle");
            return;
        }
    }
    panic!("it never came to its end");
}

/// Proves H55 for starts.
#[tokio::test]
async fn h55_c14_a_dropped_start_is_done_or_not() {
    at_every_await(async |polls| {
        let scene = Scene::unstarted().await;
        let ended = poll_and_drop(Box::pin(scene.session.start()), polls).await;
        scene.session.start().await.unwrap();
        assert_eq!((scene.sessions().await, scene.heads().await), (1, 1));
        assert_eq!(
            scene.count("session_started").await,
            1,
            "after {polls} polls"
        );
        scene.assert_sound().await;
        ended
    })
    .await;
}

/// Proves H55 for messages, the first one, which starts the session, included.
#[tokio::test]
async fn h55_a_dropped_message_is_recorded_once_or_not_at_all() {
    for used in [false, true] {
        at_every_await(async |polls| {
            let scene = if used {
                Scene::used().await
            } else {
                Scene::unstarted().await
            };
            let ended = poll_and_drop(Box::pin(scene.session.send("Dropped.")), polls).await;
            scene.assert_sound().await;
            let events = recorded(&scene.session).await;
            let said = events.iter().filter(
                |event| matches!(event, EventPayload::UserMessage { text } if text == "Dropped."),
            );
            let said = said.count();
            assert!(said <= 1 && (said == 1 || !ended), "after {polls} polls");
            ended
        })
        .await;
    }
}

/// Proves H55 for those who wait for a turn: it goes on without them.
#[tokio::test]
async fn h55_a_turn_that_nobody_waits_for_goes_on() {
    at_every_await(async |polls| {
        let scene = Scene::used().await;
        let ended = poll_and_drop(Box::pin(scene.session.send_and_wait("Dropped.")), polls).await;
        scene.assert_sound().await;
        ended
    })
    .await;
}

/// Proves H55 for going back.
#[tokio::test]
async fn h55_a_dropped_rewind_is_done_or_not() {
    at_every_await(async |polls| {
        let scene = Scene::used().await;
        let ended = poll_and_drop(Box::pin(scene.session.rewind(Sequence(1))), polls).await;
        scene.session.rewind(Sequence(1)).await.unwrap();
        let counts = (
            scene.count("rewind_begun").await,
            scene.count("rewound").await,
        );
        assert!(counts.0 == counts.1 && counts.0 <= 2, "{counts:?}");
        scene.assert_sound().await;
        ended
    })
    .await;
}

/// Proves H55 for forks, from here and from a place before.
#[tokio::test]
async fn h55_a_dropped_fork_is_made_whole_or_not_at_all() {
    for through in [None, Some(Sequence(1))] {
        at_every_await(async |polls| {
            let scene = Scene::used().await;
            let fork = async || match through {
                None => Box::pin(scene.session.fork("forked")).await,
                Some(place) => Box::pin(scene.session.fork_at("forked", place)).await,
            };
            let ended = poll_and_drop(Box::pin(fork()), polls).await;
            // What was begun is made, and has the name; or it was not begun, and the name is free.
            let again = fork().await;
            assert_eq!((scene.sessions().await, scene.heads().await), (2, 2));
            assert_eq!(scene.count("fork_begun").await, 1);
            assert_eq!(scene.count("fork_ended").await, 1);
            drop(again);
            let page = scene.store.sessions(SessionQuery::default()).await.unwrap();
            let own = scene.session.session_id();
            let made = page.sessions.iter().find(|other| other.id != *own).unwrap();
            let engine = engine_over(&scene.store);
            engine.attach(&made.id, agent(&scene.backend));
            let resumed = tokio::time::timeout(SOON, Box::pin(engine.resume(&made.id))).await;
            let forked = resumed.expect("no lease is left").unwrap();
            assert!(forked.send_and_wait("Go on.").await.unwrap().success);
            scene.assert_sound().await;
            ended
        })
        .await;
    }
}

/// Proves H55 for closing: the lease is given up all the same.
#[tokio::test]
async fn h55_h53_a_dropped_close_leaves_no_lease() {
    at_every_await(async |polls| {
        let scene = Scene::used().await;
        let ended = poll_and_drop(Box::pin(scene.session.close()), polls).await;
        let other = scene.elsewhere().await;
        assert!(other.send_and_wait("Go on.").await.unwrap().success);
        other.close().await;
        scene.assert_sound().await;
        ended
    })
    .await;
}

/// Proves H55 for deleting: the session is there as it was, or gone and its head free.
#[tokio::test]
async fn h55_a_dropped_deletion_is_done_or_not() {
    at_every_await(async |polls| {
        let scene = Scene::used().await;
        let id = scene.session.session_id().clone();
        let head = scene.session.workspace_head().unwrap();
        scene.session.close().await;
        let Scene {
            store,
            backend,
            engine,
            session,
        } = scene;
        drop(session);
        let ended = poll_and_drop(Box::pin(engine.delete_session(&id, id.as_str())), polls).await;
        // The lease that the first one has is not left to expire.
        let again = tokio::time::timeout(SOON, async {
            loop {
                match engine.delete_session(&id, id.as_str()).await {
                    Err(DeleteError::Store(StoreError::LeaseHeld { .. })) => {
                        tokio::task::yield_now().await;
                    }
                    outcome => return outcome,
                }
            }
        });
        match again.await.expect("no lease is left") {
            Ok(()) | Err(DeleteError::Store(StoreError::NotFound { .. })) => {}
            Err(error) => panic!("after {polls} polls: {error}"),
        }
        let page = store.sessions(SessionQuery::default()).await.unwrap();
        assert!(page.sessions.is_empty());
        let next = engine.create(agent(&backend)).workspace(head);
        assert!(next.send_and_wait("Mine now.").await.unwrap().success);
        ended
    })
    .await;
}

/// Proves H55 for resuming, of a session with a turn to close and of one without.
#[tokio::test]
async fn h55_c15_a_dropped_resume_is_done_or_not() {
    at_every_await(async |polls| {
        let scene = Scene::used().await;
        scene.session.close().await;
        let id = scene.session.session_id();
        let engine = engine_over(&scene.store);
        engine.attach(id, agent(&scene.backend));
        let ended = poll_and_drop(Box::pin(engine.resume(id)), polls).await;
        let resumed = tokio::time::timeout(SOON, Box::pin(engine.resume(id))).await;
        let resumed = resumed.expect("no lease is left").unwrap();
        assert!(resumed.send_and_wait("Go on.").await.unwrap().success);
        let times = scene.count("session_resumed").await;
        assert!((1..=2).contains(&times), "{times}");
        resumed.close().await;
        drop(resumed);
        scene.assert_sound().await;
        ended
    })
    .await;
}
