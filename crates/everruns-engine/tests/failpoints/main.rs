//! Every step of starting, resuming and turns fails once; nothing is left half done.
//!
//! Failpoints are the process's, so that all of this is one test in a process of its own.

#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]

#[path = "../engine/support/mod.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "shared with tests that use more of it"
)]
mod support;

mod deleted_fork;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::failpoint;
use everruns_core::file_system::Precondition;
use everruns_core::ids::SessionId;
use everruns_core::model::ToolSpec;
use everruns_core::path::WorkspacePath;
use everruns_core::session::{
    AppendRequest, EventPayload, EventQuery, LeaseOwner, Sequence, SessionQuery, SessionStore,
    StoreError,
};

use everruns_core::workspace::{Workspace, WorkspaceBackend, WorkspaceHead, WorkspaceHeadState};
use everruns_engine::engine::DeleteError;
use everruns_engine::{
    Engine, InMemorySessionStore, ResumeError, Session, SessionError, Tool, ToolContext, ToolError,
    ToolOutput,
};
use futures::FutureExt as _;
use serde_json::{Value, json};
use support::{Echo, Script, Step, Watched, agent_of, engine_over, head, memory};

const START: [&str; 5] = [
    "engine.start.after-create",
    "engine.start.after-bind",
    "engine.start.after-claim",
    "engine.start.after-lease",
    "engine.start.after-started",
];
const TURN: [&str; 5] = [
    "engine.turn.after-user-message",
    "engine.turn.after-assistant-message",
    "engine.turn.after-tool-before-result",
    "engine.turn.after-result",
    "engine.turn.before-end",
];
const RESUME: [&str; 4] = [
    "engine.resume.after-reopen",
    "engine.resume.after-claim",
    "engine.resume.after-lease",
    "engine.resume.after-repair",
];

const REWIND: [&str; 3] = [
    "engine.rewind.after-intent",
    "engine.rewind.after-files",
    "engine.rewind.after-record",
];
const FORK: [&str; 5] = [
    "engine.fork.after-intent",
    "engine.fork.after-head",
    "engine.fork.after-files",
    "engine.fork.after-session",
    "engine.fork.after-claim",
];

fn agent(script: &Script, backend: &Arc<dyn WorkspaceBackend>) -> everruns_engine::Agent {
    agent_of(script)
        .tool(Echo::default())
        .workspace_backend(Arc::clone(backend))
        .build()
        .unwrap()
}

fn steps() -> [Step; 2] {
    [Step::Call(vec![("echo", json!({}))]), Step::Say("Done.")]
}

fn script() -> Script {
    Script::new(steps())
}

/// Proves H65 and H66 step by step within a process.
#[tokio::test]
async fn h65_h66_every_step_fails_once() {
    for name in START {
        start_fails(name).await;
    }
    for name in TURN {
        turn_fails(name).await;
    }
    for name in RESUME {
        resume_fails(name).await;
    }
    for name in REWIND {
        rewind_fails(name).await;
    }
    for name in FORK {
        fork_fails(name).await;
        deleting_the_source_ends_a_fork(name).await;
    }
    h53_a_fork_whose_session_was_taken_over_meanwhile(true).await;
    h53_a_fork_whose_session_was_taken_over_meanwhile(false).await;
    a_fork_is_not_left_behind_unseen().await;
    a_deletion_that_gave_up_a_fork_can_be_repeated().await;
    a_head_that_another_session_took_is_left_to_it().await;
    a_first_change_of_unknown_outcome_can_be_taken_back().await;
    deleted_fork::check().await;
    deletion_fails().await;
    a_deletion_of_unknown_outcome_leaves_no_claim().await;
    c08_h51_a_move_keeps_what_was_saved_meanwhile().await;
}

/// Proves C08 and H51 at the level of the tools: `move_file` answers with a conflict when the file that it replaces is
/// saved between its check and its move.
async fn c08_h51_a_move_keeps_what_was_saved_meanwhile() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("a"), "a").unwrap();
    std::fs::write(file("b"), "one\n").unwrap();
    let script = Script::default();
    let agent = agent_of(&script)
        .workspace(folder.path())
        .state_folder(state.path());
    let desk = support::Desk::of(script, agent.build().unwrap());
    desk.call("read_file", json!({"path": "b"})).await;
    let target = file("b");
    failpoint::arm("fs.rename.after-check", move || {
        std::fs::write(&target, "his\n").unwrap();
        true
    });
    let replace = json!({"from": "a", "to": "b", "replace": true});
    let told = desk.call("move_file", replace.clone()).await;
    failpoint::disarm_all();
    assert!(told.contains("has changed since you read it"), "{told}");
    assert!(told.contains("-one\n+his\n"), "{told}");
    assert_eq!(std::fs::read(file("b")).unwrap(), b"his\n");
    assert_eq!(std::fs::read(file("a")).unwrap(), b"a");
    desk.call("read_file", json!({"path": "b"})).await;
    let told = desk.call("move_file", replace).await;
    assert_eq!(told, "Moved /workspace/a to /workspace/b.");
    assert_eq!(std::fs::read(file("b")).unwrap(), b"a");
}

/// A tool that makes a file.
#[derive(Debug)]
struct Making;

#[async_trait]
impl Tool for Making {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "make".to_owned(),
            description: "Makes a file.".to_owned(),
            input_schema: json!({"type": "object"}),
        }
    }

    async fn call(&self, context: &ToolContext, _: Value) -> Result<ToolOutput, ToolError> {
        let files = context.file_system();
        let bytes = Bytes::from_static(b"made");
        files
            .write(&made(), bytes, Precondition::Any)
            .await
            .unwrap();
        Ok(ToolOutput::new("made"))
    }
}

fn made() -> WorkspacePath {
    WorkspacePath::parse("made.txt").unwrap()
}

/// How the files were before is on record before the first call that may change them is made.
async fn a_first_change_of_unknown_outcome_can_be_taken_back() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let script = Script::new([Step::Call(vec![("make", json!({}))])]);
    let making = |script: &Script| {
        let agent = agent_of(script).tool(Making);
        agent
            .workspace_backend(Arc::clone(&backend))
            .build()
            .unwrap()
    };
    let session = engine_over(&store)
        .create(making(&script))
        .workspace(head(&backend, "x").await);
    failpoint::arm("engine.turn.after-tool-before-result", || false);
    session.send_and_wait("Make it.").await.unwrap_err();
    failpoint::disarm_all();
    let id = session.session_id().clone();
    drop(session);
    let engine = engine_over(&store);
    engine.attach(&id, making(&Script::new([])));
    let session = engine.resume(&id).await.unwrap();
    let files = session.workspace_head().unwrap().file_system();
    assert!(files.stat(&made()).await.is_ok(), "the call took effect");
    session.rewind(Sequence(1)).await.unwrap();
    assert!(files.stat(&made()).await.is_err(), "and is taken back");
}

/// Neither the lease nor a head without its claim is left behind.
async fn deletion_fails() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let (engine, backend) = (engine_over(&store), memory());
    let session = engine
        .create(agent(&script(), &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    session.close().await;
    let id = session.session_id().clone();
    drop(session);
    failpoint::arm("engine.delete.after-release", || false);
    let error = engine.delete_session(&id, id.as_str()).await.unwrap_err();
    assert!(
        matches!(error, DeleteError::Store(StoreError::Failpoint(_))),
        "{error}"
    );
    failpoint::disarm_all();
    // Another engine finds no lease in its way, and the session on its head.
    let other = engine_over(&store);
    other.attach(&id, agent(&Script::new([Step::Say("On.")]), &backend));
    let resumed = other.resume(&id).await.unwrap();
    assert!(resumed.send_and_wait("continue").await.unwrap().success);
    resumed.close().await;
    engine.delete_session(&id, id.as_str()).await.unwrap();
}

/// Whether the session is there cannot be asked: the head is freed, and whoever resumes the session claims it.
async fn a_deletion_of_unknown_outcome_leaves_no_claim() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let (engine, backend) = (engine_over(&store), memory());
    let head = head(&backend, "x").await;
    let session = engine
        .create(agent(&script(), &backend))
        .workspace(head.clone());
    session.send_and_wait("Work.").await.unwrap();
    session.close().await;
    let id = session.session_id().clone();
    drop(session);
    failpoint::arm("engine.delete.after-release", move || {
        watched.go_away(true);
        false
    });
    engine.delete_session(&id, id.as_str()).await.unwrap_err();
    failpoint::disarm_all();
    let other = SessionId::new("ses_other").unwrap();
    head.claim(&other).await.unwrap();
}

/// After a crash the head of a fork is anybody's, until the fork's session has claimed it.
async fn a_head_that_another_session_took_is_left_to_it() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let session = engine_over(&store)
        .create(agent(&script(), &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    failpoint::arm("engine.fork.after-head", || false);
    session.fork("forked").await.unwrap_err();
    failpoint::disarm_all();
    let source = session.workspace_head().unwrap();
    let heads = backend.heads(source.workspace_id()).await.unwrap();
    let forked = heads.iter().find(|other| other.name.as_str() == "forked");
    let binding = backend
        .binding(source.workspace_id(), &forked.unwrap().id)
        .await
        .unwrap();
    let made = WorkspaceHead::reopen(Arc::clone(&backend), &binding)
        .await
        .unwrap();
    let other = engine_over(&store)
        .create(agent(&script(), &backend))
        .workspace(made);
    other.start().await.unwrap();
    // The source goes on, and the other keeps its head.
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
    let given_up = support::recorded(&session).await;
    assert!(
        given_up
            .iter()
            .any(|event| matches!(event, EventPayload::ForkEnded { made: false, .. }))
    );
    assert!(other.send_and_wait("Work.").await.unwrap().success);
    let sessions = store.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(sessions.sessions.len(), 2);
}

/// A fork was begun, and its process has ended at a step: the source with its store and backend, not attached anywhere.
async fn half_forked(
    name: &'static str,
) -> (SessionId, Arc<dyn SessionStore>, Arc<dyn WorkspaceBackend>) {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let session = engine_over(&store)
        .create(agent(&script(), &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    failpoint::arm(name, || false);
    session.fork("forked").await.unwrap_err();
    failpoint::disarm_all();
    (session.session_id().clone(), store, backend)
}

/// The names of the heads that can be used, and the sessions' heads.
async fn heads_and_sessions(
    store: &Arc<dyn SessionStore>,
    backend: &Arc<dyn WorkspaceBackend>,
) -> (Vec<String>, usize, usize) {
    let workspace = Workspace::open(Arc::clone(backend), "project")
        .await
        .unwrap();
    let heads = workspace.heads().await.unwrap().into_iter();
    let ready = heads.filter(|head| head.state == WorkspaceHeadState::Ready);
    let sessions = store.sessions(SessionQuery::default()).await.unwrap();
    let engine = engine_over(store);
    let unrecorded = engine.unrecorded_heads(&workspace).await.unwrap();
    (
        ready.map(|head| head.name.to_string()).collect(),
        sessions.sessions.len(),
        unrecorded.len(),
    )
}

/// Another process takes the session over while the head is made. If it has seen no head of the fork and says so on record,
/// there is none afterwards; otherwise it goes on with that head, which is left to it.
async fn h53_a_fork_whose_session_was_taken_over_meanwhile(gave_up: bool) {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let session = engine_over(&store)
        .create(agent(&script(), &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    let (robbed, id) = (Arc::clone(&store), session.session_id().clone());
    failpoint::arm("engine.fork.after-head", move || {
        let other = take_over(&robbed, &id, gave_up).now_or_never();
        other.expect("a store in memory waits for nothing");
        true
    });
    let error = session.fork("forked").await.unwrap_err();
    failpoint::disarm_all();
    assert!(matches!(error, SessionError::TakenOver { .. }), "{error}");
    let (heads, sessions, _) = heads_and_sessions(&store, &backend).await;
    let expected: &[&str] = if gave_up { &["x"] } else { &["x", "forked"] };
    assert_eq!(
        (heads, sessions),
        (expected.iter().map(ToString::to_string).collect(), 1)
    );
    if gave_up {
        return;
    }
    // Whoever goes on makes the session of it.
    let engine = engine_over(&store);
    engine.attach(session.session_id(), agent(&script(), &backend));
    engine.resume(session.session_id()).await.unwrap();
    let (heads, sessions, unrecorded) = heads_and_sessions(&store, &backend).await;
    assert_eq!((heads.len(), sessions, unrecorded), (2, 2, 0));
}

/// Takes the lease from a process that lives, records that nothing came of its fork, or not, and gives the lease up.
async fn take_over(store: &Arc<dyn SessionStore>, id: &SessionId, gave_up: bool) {
    let other = LeaseOwner("the other".into());
    let token = support::rob(store.as_ref(), id, &other).await.token;
    let last = store.events(id, EventQuery::last(1)).await.unwrap().events;
    let EventPayload::ForkBegun { session, .. } = &last[0].payload else {
        panic!("{last:?}");
    };
    if gave_up {
        let session = session.clone();
        let request = AppendRequest {
            session: id.clone(),
            token,
            expected: last[0].sequence,
            idempotency_key: "the other's".to_owned(),
            at: last[0].at,
            events: vec![EventPayload::ForkEnded {
                session,
                made: false,
            }],
        };
        store.append(request).await.unwrap();
    }
    store.release_lease(id, token).await.unwrap();
}

/// Both the head and the session of a fork exist, or neither does, also when its source is gone before it is resumed.
async fn deleting_the_source_ends_a_fork(name: &'static str) {
    let (id, store, backend) = half_forked(name).await;
    let engine = engine_over(&store);
    engine.attach(&id, agent(&script(), &backend));
    engine.delete_session(&id, id.as_str()).await.unwrap();
    let (heads, sessions, unrecorded) = heads_and_sessions(&store, &backend).await;
    if name == "engine.fork.after-session" {
        assert_eq!(heads, ["x", "forked"], "{name}");
        assert_eq!(
            (sessions, unrecorded),
            (1, 1),
            "{name}: the source's head is free"
        );
    } else {
        assert_eq!(heads, ["x"], "{name}");
        assert_eq!((sessions, unrecorded), (0, 1), "{name}");
    }
}

/// Without the backend nobody can tell what there is of the fork, so that its source stays.
async fn a_fork_is_not_left_behind_unseen() {
    let (id, store, backend) = half_forked("engine.fork.after-claim").await;
    let refused = engine_over(&store).delete_session(&id, id.as_str()).await;
    let error = refused.unwrap_err();
    assert!(
        matches!(&error, DeleteError::ForkUnfinished { head, .. } if head == "forked"),
        "{error}"
    );
    // The lease is not left behind either: the source goes on, and the fork is finished.
    let engine = engine_over(&store);
    engine.attach(&id, agent(&Script::new([Step::Say("On.")]), &backend));
    let resumed = engine.resume(&id).await.unwrap();
    assert!(resumed.send_and_wait("continue").await.unwrap().success);
    let (heads, sessions, unrecorded) = heads_and_sessions(&store, &backend).await;
    assert_eq!((heads.len(), sessions, unrecorded), (2, 2, 0));
}

/// The head is gone and the source is there: it says so on record when it goes on.
async fn a_deletion_that_gave_up_a_fork_can_be_repeated() {
    let (id, store, backend) = half_forked("engine.fork.after-files").await;
    let engine = engine_over(&store);
    engine.attach(&id, agent(&Script::new([Step::Say("On.")]), &backend));
    failpoint::arm("engine.delete.after-fork", || false);
    engine.delete_session(&id, id.as_str()).await.unwrap_err();
    failpoint::disarm_all();
    let resumed = engine.resume(&id).await.unwrap();
    let ended = support::recorded(&resumed).await;
    let given_up =
        |event: &EventPayload| matches!(event, EventPayload::ForkEnded { made: false, .. });
    assert!(ended.iter().any(given_up), "{ended:?}");
    assert!(resumed.send_and_wait("continue").await.unwrap().success);
    resumed.close().await;
    drop(resumed);
    engine.delete_session(&id, id.as_str()).await.unwrap();
    let (heads, sessions, _) = heads_and_sessions(&store, &backend).await;
    assert_eq!((heads.len(), sessions), (1, 0));
}

/// A session of one turn, left behind by its engine, and where it can be found again.
async fn interrupted<T: std::fmt::Debug>(
    name: &'static str,
    work: impl AsyncFnOnce(&Session) -> Result<T, SessionError>,
) -> (Session, Arc<dyn SessionStore>, Arc<dyn WorkspaceBackend>) {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let session = engine_over(&store)
        .create(agent(&script(), &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    failpoint::arm(name, || false);
    let error = work(&session).await.unwrap_err();
    assert!(
        matches!(error, SessionError::Failpoint(_)),
        "{name}: {error}"
    );
    failpoint::disarm_all();
    let id = session.session_id().clone();
    drop(session);
    let engine = engine_over(&store);
    engine.attach(&id, agent(&Script::new([Step::Say("On.")]), &backend));
    (engine.resume(&id).await.unwrap(), store, backend)
}

/// What was begun is finished when the session is resumed.
async fn rewind_fails(name: &'static str) {
    let work = async |session: &Session| session.rewind(Sequence(1)).await;
    let (session, _, _) = interrupted(name, work).await;
    let kinds = support::kinds(&session).await;
    let count = |wanted: &str| kinds.iter().filter(|kind| *kind == wanted).count();
    assert_eq!((count("rewind_begun"), count("rewound")), (1, 1), "{name}");
    let turn = session.send_and_wait("continue").await.unwrap();
    assert!(turn.success && turn.number == 2, "{name}");
}

/// Both the head and the session of a fork exist, or neither does.
async fn fork_fails(name: &'static str) {
    let work = async |session: &Session| session.fork("forked").await;
    let (session, store, backend) = interrupted(name, work).await;
    let head = session.workspace_head().unwrap();
    let heads = backend.heads(head.workspace_id()).await.unwrap();
    let sessions = store
        .sessions(SessionQuery::default())
        .await
        .unwrap()
        .sessions;
    let made = name != "engine.fork.after-intent";
    let expected = 1 + usize::from(made);
    assert_eq!(
        (heads.len(), sessions.len()),
        (expected, expected),
        "{name}"
    );
    assert!(
        support::recorded(&session).await.iter().any(
            |event| matches!(event, EventPayload::ForkEnded { made: ended, .. } if *ended == made)
        ),
        "{name}"
    );
    assert!(
        session.send_and_wait("continue").await.unwrap().success,
        "{name}"
    );
    let Some(fork) = sessions
        .iter()
        .find(|other| other.id != *session.session_id())
    else {
        // The name is free.
        session.fork("forked").await.unwrap();
        return;
    };
    let engine = engine_over(&store);
    engine.attach(&fork.id, agent(&Script::new([Step::Say("On.")]), &backend));
    let fork = engine.resume(&fork.id).await.unwrap();
    assert!(
        fork.send_and_wait("continue").await.unwrap().success,
        "{name}"
    );
}

async fn start_fails(name: &'static str) {
    let engine = Engine::new();
    let backend = memory();
    let head = head(&backend, "x").await;
    let script = script();
    let session = engine
        .create(agent(&script, &backend))
        .workspace(head.clone());
    failpoint::arm(name, || false);
    let error = session.start().await.unwrap_err();
    assert!(
        matches!(error, SessionError::Failpoint(_)),
        "{name}: {error}"
    );
    failpoint::disarm_all();
    let page = engine.sessions(SessionQuery::default()).await.unwrap();
    assert!(page.sessions.is_empty(), "{name} leaves a session");
    // The head is free for another session, and then for a repeated start no more.
    let other = engine.create(agent(&script, &backend)).workspace(head);
    other.start().await.unwrap();
    assert!(session.start().await.is_err(), "{name}");
    assert!(
        other.send_and_wait("Work.").await.unwrap().success,
        "{name}"
    );
}

async fn turn_fails(name: &'static str) {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let script = script();
    let session = engine_over(&store)
        .create(agent(&script, &backend))
        .workspace(head(&backend, "x").await);
    session.start().await.unwrap();
    failpoint::arm(name, || false);
    assert!(session.send_and_wait("Work.").await.is_err(), "{name}");
    failpoint::disarm_all();
    let id = session.session_id().clone();
    // The same handle goes on, and so does another engine.
    assert!(
        session.send_and_wait("Go on.").await.unwrap().success,
        "{name}"
    );
    for step in steps() {
        script.then(step);
    }
    failpoint::arm(name, || false);
    session.send_and_wait("Work again.").await.unwrap_err();
    failpoint::disarm_all();
    drop(session);
    let engine = engine_over(&store);
    let script = self::script();
    engine.attach(&id, agent(&script, &backend));
    let session = engine.resume(&id).await.unwrap();
    assert!(
        session.send_and_wait("continue").await.unwrap().success,
        "{name}"
    );
    for request in script.requests() {
        assert_valid(&request.messages, name);
    }
}

async fn resume_fails(name: &'static str) {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let session = engine_over(&store)
        .create(agent(&script(), &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    let id = session.session_id().clone();
    drop(session);
    let engine = engine_over(&store);
    engine.attach(&id, agent(&script(), &backend));
    failpoint::arm(name, || false);
    let error = engine.resume(&id).await.unwrap_err();
    assert!(
        matches!(error, ResumeError::Failpoint(_)),
        "{name}: {error}"
    );
    failpoint::disarm_all();
    let session = engine.resume(&id).await.unwrap();
    assert!(
        session.send_and_wait("continue").await.unwrap().success,
        "{name}"
    );
}

/// Every call is followed by its results before anything else is said.
fn assert_valid(messages: &everruns_core::model::Messages, name: &str) {
    use everruns_core::model::Message;
    let mut open: Vec<&str> = Vec::new();
    for message in messages.iter() {
        match message {
            Message::ToolResult { call_id, .. } => {
                assert!(open.contains(&call_id.as_str()), "{name}: {messages:?}");
                open.retain(|id| id != call_id);
            }
            Message::Assistant { tool_calls, .. } => {
                assert!(open.is_empty(), "{name}: {messages:?}");
                open.extend(tool_calls.iter().map(|call| call.id.as_str()));
            }
            _ => assert!(open.is_empty(), "{name}: {messages:?}"),
        }
    }
    assert!(open.is_empty(), "{name}: {messages:?}");
}
