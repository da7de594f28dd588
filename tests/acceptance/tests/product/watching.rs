//! What one process records, as another one that watches sees it.

use std::path::{Path, PathBuf};

use everruns::session::{EventPayload, EventQuery, Sequence, SessionEvent};
use everruns::{Agent, Engine, SessionEvents, SessionId, Simulated};
use everruns_testkit::failpoints::{Child, argument, is_child};
use futures::StreamExt as _;

const TURNS: u64 = 12;

fn agent(project: &Path, turns: u64) -> Agent {
    let script = (0..turns).fold(Simulated::new(), |script, turn| {
        script
            .call("list_directory", serde_json::json!({"path": "."}))
            .say(format!("Turn {turn}."))
    });
    Agent::builder()
        .provider(script)
        .model("simulated")
        .workspace(project)
        .build()
        .unwrap()
}

fn given(name: &str) -> PathBuf {
    argument(name).expect("the parent gives it").into()
}

async fn go_on(engine: &Engine, id: &SessionId, project: &Path, turns: u64) {
    engine.attach(id, agent(project, turns));
    let session = engine.resume(id).await.unwrap();
    for turn in 0..turns {
        let turn = session.send_and_wait(format!("Message {turn}.")).await;
        assert!(turn.unwrap().success);
    }
    session.close().await;
}

/// Takes events up to the end of this turn.
async fn watch(events: &mut SessionEvents, turn: u64, seen: &mut Vec<SessionEvent>) {
    let ended = |event: &SessionEvent| matches!(event.payload, EventPayload::TurnEnded { turn: ended, .. } if ended == turn);
    while !seen.last().is_some_and(ended) {
        seen.push(events.next().await.unwrap().unwrap());
    }
}

/// Replay, what another process records meanwhile, and what this one records then: one stream, in one order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_two_processes_come_once_and_in_order() {
    if is_child() {
        let id = SessionId::new(given("SESSION").to_str().unwrap()).unwrap();
        let engine = Engine::local(given("SESSIONS")).await.unwrap();
        return go_on(&engine, &id, &given("PROJECT"), TURNS).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let (project, sessions) = (
        folder.path().join("project"),
        folder.path().join("sessions"),
    );
    std::fs::create_dir(&project).unwrap();
    let engine = Engine::local(&sessions).await.unwrap();
    let session = engine.create(agent(&project, 2));
    session.send_and_wait("Begin.").await.unwrap();
    session.close().await;
    let id = session.session_id().clone();

    let mut events = session.events(Sequence::START);
    let test = "watching::events_of_two_processes_come_once_and_in_order";
    let child = Child::of_test(test)
        .argument("SESSION", id.as_str())
        .argument("SESSIONS", &sessions)
        .argument("PROJECT", &project);
    let child = tokio::task::spawn_blocking(move || child.run());
    let mut seen = Vec::new();
    watch(&mut events, 1 + TURNS, &mut seen).await;
    child.await.unwrap().assert_passed();
    // The other process has had its turns; this one goes on with the same session.
    session.send_and_wait("And here.").await.unwrap();
    watch(&mut events, 2 + TURNS, &mut seen).await;
    let all = EventQuery::after(Sequence::START, 10_000);
    let recorded = engine.store().events(&id, all).await.unwrap().events;
    assert_eq!(seen, recorded);
    let places: Vec<u64> = seen.iter().map(|event| event.sequence.0).collect();
    assert_eq!(places, (1..=seen.len() as u64).collect::<Vec<_>>());
}
