//! Going back and forking: files and conversation agree.

use std::sync::Arc;

use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_core::model::Message;
use everruns_core::session::{EventPayload, Sequence, SessionStore};
use everruns_core::workspace::{Workspace, WorkspaceBackend, WorkspaceError};
use everruns_engine::session::PlaceFiles;
use everruns_engine::{
    Agent, CheckpointPolicy, Engine, InMemorySessionStore, Session, SessionError,
};
use serde_json::json;

use crate::support::{Script, Step, agent_of, engine_over, head, kinds, memory, recorded};

fn write(path: &'static str, content: &str) -> Step {
    Step::Call(vec![(
        "write_file",
        json!({"path": path, "content": content}),
    )])
}

/// Three turns that each make a file.
fn script() -> Script {
    Script::new([
        write("one.txt", "1"),
        Step::Say("One."),
        write("two.txt", "2"),
        Step::Say("Two."),
        write("three.txt", "3"),
        Step::Say("Three."),
    ])
}

fn agent(script: &Script, backend: &Arc<dyn WorkspaceBackend>) -> Agent {
    agent_of(script)
        .workspace_backend(Arc::clone(backend))
        .build()
        .unwrap()
}

struct Scene {
    backend: Arc<dyn WorkspaceBackend>,
    store: Arc<dyn SessionStore>,
    script: Script,
    session: Session,
}

impl Scene {
    /// A session after three turns.
    async fn new() -> Self {
        let (backend, script) = (memory(), script());
        let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
        let engine = engine_over(&store);
        let session = engine
            .create(agent(&script, &backend))
            .workspace(head(&backend, "x").await);
        for text in ["first", "second", "third"] {
            assert!(session.send_and_wait(text).await.unwrap().success);
        }
        Self {
            backend,
            store,
            script,
            session,
        }
    }

    /// The place after a turn.
    async fn end_of(&self, number: u64) -> Sequence {
        let place = recorded(&self.session).await.into_iter().position(
            |event| matches!(event, EventPayload::TurnEnded { turn, .. } if turn == number),
        );
        Sequence(place.unwrap() as u64 + 1)
    }

    /// What the model is told with the next message of a session.
    async fn told(&self, session: &Session) -> Vec<String> {
        self.script.then(Step::Say("Next."));
        session.send_and_wait("next").await.unwrap();
        let told = self.script.requests().pop().unwrap().messages;
        told.iter()
            .filter_map(|message| match message {
                Message::User { text } | Message::Assistant { text, .. } if !text.is_empty() => {
                    Some(text.clone())
                }
                _ => None,
            })
            .collect()
    }
}

async fn files(session: &Session) -> Vec<String> {
    let files = session.workspace_head().unwrap().file_system();
    let top = everruns_core::path::WorkspacePath::root();
    let entries = files.list_all(&top).await.unwrap();
    entries
        .into_iter()
        .map(|entry| entry.name.clone())
        .collect()
}

#[tokio::test]
async fn going_back_takes_files_and_conversation_along() {
    let scene = Scene::new().await;
    let end = scene.end_of(1).await;
    let rewound = scene.session.rewind(end).await.unwrap();
    assert!(rewound.before.is_some(), "the files before are kept");
    assert_eq!(files(&scene.session).await, ["one.txt"]);
    assert_eq!(
        scene.told(&scene.session).await,
        ["first", "One.", "next"],
        "the other turns are no part of the conversation any more"
    );
    let kinds = kinds(&scene.session).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "turn_ended").count(), 4);
    // What was gone back from can be had again: the head keeps it.
    let head = scene.session.workspace_head().unwrap();
    head.restore(&rewound.before.unwrap()).await.unwrap();
    assert_eq!(
        files(&scene.session).await,
        ["one.txt", "three.txt", "two.txt"]
    );
}

#[tokio::test]
async fn the_places_are_those_that_can_be_gone_back_to() {
    let scene = Scene::new().await;
    let engine = engine_over(&scene.store);
    let id = scene.session.session_id();
    let ends = [
        Sequence(1),
        scene.end_of(1).await,
        scene.end_of(2).await,
        scene.end_of(3).await,
    ];
    let places = engine.places(id).await.unwrap();
    let events: Vec<Sequence> = places.iter().map(|place| place.event).collect();
    assert_eq!(events, ends);
    for place in &places {
        assert!(matches!(place.files, PlaceFiles::Kept(_)), "{place:?}");
    }
    scene.session.rewind(ends[1]).await.unwrap();
    let places = engine.places(id).await.unwrap();
    let last = places.last().unwrap().event;
    assert_eq!(places.len(), 3, "what was gone back from is none any more");
    scene.session.rewind(last).await.unwrap();
}

#[tokio::test]
async fn going_back_to_before_the_first_change() {
    let scene = Scene::new().await;
    scene.session.rewind(Sequence(1)).await.unwrap();
    assert!(files(&scene.session).await.is_empty());
    assert_eq!(scene.told(&scene.session).await, ["next"]);
}

#[tokio::test]
async fn a_place_in_a_turn_or_one_gone_back_from_is_refused() {
    let scene = Scene::new().await;
    let second = scene.end_of(2).await;
    for event in [Sequence(2), Sequence(999), Sequence(second.0 - 1)] {
        let error = scene.session.rewind(event).await.unwrap_err();
        assert!(
            matches!(error, SessionError::NotBetweenTurns { .. }),
            "{error}"
        );
    }
    let first = scene.end_of(1).await;
    scene.session.rewind(first).await.unwrap();
    let error = scene.session.rewind(second).await.unwrap_err();
    assert!(
        matches!(error, SessionError::NotBetweenTurns { .. }),
        "{error}"
    );
    let error = scene.session.fork_at("y", second).await.unwrap_err();
    assert!(
        matches!(error, SessionError::NotBetweenTurns { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_fork_has_the_conversation_and_the_files_of_its_place() {
    let scene = Scene::new().await;
    let end = scene.end_of(2).await;
    let fork = scene.session.fork_at("earlier", end).await.unwrap();
    assert_ne!(fork.session_id(), scene.session.session_id());
    assert_eq!(files(&fork).await, ["one.txt", "two.txt"]);
    let told = scene.told(&fork).await;
    assert_eq!(told, ["first", "One.", "second", "Two.", "next"]);
    // The source goes on as if nothing had happened.
    assert_eq!(files(&scene.session).await.len(), 3);
    assert_eq!(scene.told(&scene.session).await.len(), 7);
    let inspection = fork.inspect().await.unwrap();
    assert_eq!(inspection.record.title.as_deref(), Some("earlier"));
    assert_eq!(inspection.turns, 3);
    let error = scene.session.fork("earlier").await.unwrap_err();
    let taken = matches!(
        &error,
        SessionError::Workspace(WorkspaceError::NameTaken { .. })
    );
    assert!(taken, "{error}");
}

#[tokio::test]
async fn a_fork_of_the_present_can_be_resumed_elsewhere() {
    let scene = Scene::new().await;
    let fork = scene.session.fork("now").await.unwrap();
    let id = fork.session_id().clone();
    fork.close().await;
    drop(fork);
    let engine = engine_over(&scene.store);
    engine.attach(&id, agent(&scene.script, &scene.backend));
    let fork = engine.resume(&id).await.unwrap();
    assert_eq!(files(&fork).await.len(), 3);
    assert_eq!(scene.told(&fork).await.len(), 7);
}

#[tokio::test]
async fn without_checkpoints_going_back_is_refused_and_forking_the_present_is_not() {
    let (backend, script) = (memory(), script());
    let agent = agent_of(&script)
        .checkpoints(CheckpointPolicy::Off)
        .build()
        .unwrap();
    let session = Engine::new()
        .create(agent)
        .workspace(head(&backend, "x").await);
    session.send_and_wait("first").await.unwrap();
    let last = session.inspect().await.unwrap().record.last_sequence;
    let error = session.rewind(last).await.unwrap_err();
    assert!(
        matches!(error, SessionError::NoCheckpoint { .. }),
        "{error}"
    );
    let head = session.workspace_head().unwrap();
    assert!(head.checkpoints().await.unwrap().is_empty());
    let fork = session.fork("y").await.unwrap();
    assert_eq!(files(&fork).await, ["one.txt"]);
}

/// A turn that changes nothing costs no checkpoint; one that does costs one, and the first costs one more.
#[tokio::test]
async fn checkpoints_are_counted() {
    let script = Script::new([
        Step::Say("Nothing."),
        write("one.txt", "1"),
        Step::Say("One."),
        Step::Call(vec![("read_file", json!({"path": "one.txt"}))]),
        Step::Say("Read."),
        write("two.txt", "2"),
        Step::Say("Two."),
    ]);
    let backend = memory();
    let session = Engine::new()
        .create(agent(&script, &backend))
        .workspace(head(&backend, "x").await);
    let mut taken = Vec::new();
    for text in ["a", "b", "c", "d"] {
        session.send_and_wait(text).await.unwrap();
        let kinds = kinds(&session).await;
        taken.push(
            kinds
                .iter()
                .filter(|kind| *kind == "checkpoint_taken")
                .count(),
        );
    }
    assert_eq!(taken, [0, 2, 2, 3]);
}

#[tokio::test]
async fn a_shared_head_is_not_taken_back() {
    let (backend, script) = (memory(), script());
    let workspace = Workspace::open(Arc::clone(&backend), "project")
        .await
        .unwrap();
    let head = workspace.head("x").shared().create().await.unwrap();
    let session = Engine::new()
        .create(agent(&script, &backend))
        .workspace(head);
    session.send_and_wait("first").await.unwrap();
    let last = session.inspect().await.unwrap().record.last_sequence;
    let error = session.rewind(last).await.unwrap_err();
    assert!(matches!(error, SessionError::SharedHead { .. }), "{error}");
    assert_eq!(files(&session.fork("y").await.unwrap()).await, ["one.txt"]);
}

#[tokio::test]
async fn a_running_turn_is_waited_for_by_its_caller() {
    let backend = memory();
    let script = Script::new([Step::Hang("...")]);
    let session = Engine::new()
        .create(agent(&script, &backend))
        .workspace(head(&backend, "x").await);
    let turn = session.send("go").await.unwrap();
    let error = session.fork("y").await.unwrap_err();
    assert!(
        matches!(error, SessionError::TurnRunning { turn: 1, .. }),
        "{error}"
    );
    let error = session.rewind(Sequence(1)).await.unwrap_err();
    assert!(
        matches!(error, SessionError::TurnRunning { turn: 1, .. }),
        "{error}"
    );
    session.cancel().await;
    turn.await.unwrap();
    session.rewind(Sequence(1)).await.unwrap();
    drop(session);
}
