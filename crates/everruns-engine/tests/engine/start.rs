//! Starting a session and what it executes on.

use std::sync::Arc;

use everruns_core::environment::Environment;
use everruns_core::file_system::SessionFileSystemExt as _;
use everruns_core::session::{AgentSummary, SessionQuery, SessionStore};
use everruns_core::workspace::{WorkspaceBackend, WorkspaceHeadAccess, WorkspaceHeadState};
use everruns_engine::{Agent, BuildError, Engine, SessionEnvironmentError, SessionError};
use everruns_fs::{MemoryWorkspaceBackend, RootAccess};

use crate::support::{
    Echo, Script, Step, Watched, agent, agent_of, engine_over, head, kinds, memory,
};

/// Proves C01 and C17: the first `send` selects the default head.
#[tokio::test]
async fn c17_creating_is_enough() {
    let engine = Engine::new();
    let session = engine.create(agent(&Script::new([Step::Say("Hi.")])));
    assert!(session.workspace_head().is_none());
    session.send_and_wait("Hello.").await.unwrap();
    let head = session.workspace_head().unwrap();
    assert_eq!(head.access(), WorkspaceHeadAccess::Isolated);
    assert_eq!(head.backend().id().as_str(), "memory");
}

/// Proves C17: `inspect` and `start` select it, too, and run no turn.
#[tokio::test]
async fn c17_inspecting_and_starting_select_the_head() {
    let engine = Engine::new();
    let script = Script::default();
    let inspected = engine.create(agent(&script));
    let inspection = inspected.inspect().await.unwrap();
    assert_eq!(
        inspection.record.binding.unwrap().head_id,
        *inspected.workspace_head().unwrap().id()
    );
    assert_eq!(inspection.backend.as_str(), "memory");
    let started = engine.create(agent(&script)).start().await.unwrap();
    assert!(started.workspace_head().is_some());
    assert!(script.requests().is_empty());
    let page = engine.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(page.sessions.len(), 2);
}

/// Proves C01: one agent, any number of sessions, each on one head of its own.
#[tokio::test]
async fn c01_an_agent_owns_no_session_and_a_session_has_one_head() {
    let engine = Engine::new();
    let script = Script::new([Step::Say("1"), Step::Say("2")]);
    let agent = agent(&script);
    let (one, other) = (engine.create(agent.clone()), engine.create(agent));
    one.send_and_wait("Mine.").await.unwrap();
    other.send_and_wait("Also mine.").await.unwrap();
    assert_ne!(
        one.workspace_head().unwrap().id(),
        other.workspace_head().unwrap().id()
    );
    assert_eq!(script.requests()[1].messages.len(), 1);
}

#[tokio::test]
async fn concurrent_starts_do_it_once() {
    let session = Engine::new().create(agent(&Script::default()));
    let starts = (0..8).map(|_| session.start());
    for started in futures::future::join_all(starts).await {
        started.unwrap();
    }
    assert_eq!(kinds(&session).await, ["session_started"]);
}

#[tokio::test]
async fn h55_a_dropped_start_goes_on() {
    let session = Engine::new().create(agent(&Script::default()));
    let start = session.start();
    drop(tokio::time::timeout(std::time::Duration::ZERO, start).await);
    session.start().await.unwrap();
    assert_eq!(kinds(&session).await, ["session_started"]);
}

/// Proves C06 within one store: the second binding is refused, and nothing is left of the session.
#[tokio::test]
async fn c06_an_isolated_head_is_bound_once() {
    let engine = Engine::new();
    let head = head(&memory(), "feature").await;
    let script = Script::default();
    let first = engine.create(agent(&script)).workspace(head.clone());
    first.start().await.unwrap();
    let second = engine.create(agent(&script)).workspace(head.clone());
    let refused = second.start().await.unwrap_err();
    let SessionError::Environment(SessionEnvironmentError::HeadBound { session, .. }) = &refused
    else {
        panic!("{refused}");
    };
    assert_eq!(session, first.session_id());
    assert!(refused.to_string().contains("fork it"));
    let page = engine.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(page.sessions.len(), 1);
    // The same session may take another head instead.
    let fork = head.fork("feature-2").await.unwrap();
    second.workspace(fork).start().await.unwrap();
}

/// Proves C06 and H51b: the claim is with the head, so that another store changes nothing.
#[tokio::test]
async fn c06_h51b_engines_with_different_stores_cannot_both_bind_a_head() {
    let head = head(&memory(), "feature").await;
    let script = Script::default();
    let first = Engine::new().create(agent(&script)).workspace(head.clone());
    first.start().await.unwrap();
    let other = Engine::new();
    let second = other.create(agent(&script)).workspace(head);
    let refused = second.start().await.unwrap_err();
    assert!(
        matches!(
            refused,
            SessionError::Environment(SessionEnvironmentError::HeadClaimed { .. })
        ),
        "{refused}"
    );
    let page = other.sessions(SessionQuery::default()).await.unwrap();
    assert!(page.sessions.is_empty());
}

/// Proves C07.
#[tokio::test]
async fn c07_a_shared_head_serves_several_sessions() {
    let engine = Engine::new();
    let backend = memory();
    let workspace = everruns_core::workspace::Workspace::open(backend, "p")
        .await
        .unwrap();
    let head = workspace.head("both").shared().create().await.unwrap();
    for _ in 0..2 {
        let session = engine
            .create(agent(&Script::default()))
            .workspace(head.clone());
        session.start().await.unwrap();
    }
}

/// Proves C11: dropping everything removes nothing.
#[tokio::test]
async fn c11_dropping_handles_removes_nothing() {
    let backend = memory();
    let head = head(&backend, "kept").await;
    head.file_system().write_all("a", "x").await.unwrap();
    let binding = head.binding();
    let session = Engine::new()
        .create(agent(&Script::default()))
        .workspace(head);
    session.start().await.unwrap();
    drop(session);
    let again = everruns_core::workspace::WorkspaceHead::reopen(backend, &binding)
        .await
        .unwrap();
    assert_eq!(again.descriptor().state, WorkspaceHeadState::Ready);
    assert_eq!(&again.file_system().read_all("a").await.unwrap()[..], b"x");
}

/// Proves C13: a running session keeps its files.
#[tokio::test]
async fn c13_archiving_does_not_take_files_from_a_running_session() {
    let head = head(&memory(), "old").await;
    let script = Script::new([Step::Say("Still here.")]);
    let session = Engine::new().create(agent(&script)).workspace(head.clone());
    session.start().await.unwrap();
    head.archive().await.unwrap();
    assert!(session.send_and_wait("Work on.").await.unwrap().success);
    let files = session.workspace_head().unwrap().file_system();
    files.write_all("a", "x").await.unwrap();
}

/// Proves C16's conflict: one id means one backend object for an agent.
#[tokio::test]
async fn c16_another_backend_of_a_registered_id_is_a_conflict() {
    let registered = memory();
    let script = Script::default();
    let agent = agent_of(&script)
        .workspace_backend(Arc::clone(&registered))
        .build()
        .unwrap();
    let engine = Engine::new();
    let foreign = head(&memory(), "x").await;
    let refused = engine.create(agent.clone()).workspace(foreign);
    let refused = refused.start().await.unwrap_err();
    assert!(
        matches!(
            refused,
            SessionError::Environment(SessionEnvironmentError::ProviderConflict { .. })
        ),
        "{refused}"
    );
    let own = head(&registered, "x").await;
    engine.create(agent).workspace(own).start().await.unwrap();
}

#[tokio::test]
async fn an_environment_is_fixed_by_the_start() {
    let session = Engine::new().create(agent(&Script::new([Step::Say("Hi.")])));
    session.start().await.unwrap();
    let other = head(&memory(), "late").await;
    let late = session.clone().environment(Environment::new(other));
    for refused in [
        late.start().await.unwrap_err(),
        late.send("Hi.").await.unwrap_err(),
    ] {
        assert!(matches!(
            refused,
            SessionError::Environment(SessionEnvironmentError::AlreadyStarted { .. })
        ));
    }
    assert!(session.send_and_wait("Hello.").await.unwrap().success);
}

/// Proves C18: one shared directory for all of an agent's sessions.
#[tokio::test]
async fn c18_the_agents_folder_is_one_shared_head() {
    let folder = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let agent = agent_of(&Script::default())
        .workspace(folder.path())
        .state_folder(state.path())
        .build()
        .unwrap();
    let engine = Engine::new();
    let (one, other) = (engine.create(agent.clone()), engine.create(agent));
    one.start().await.unwrap();
    other.start().await.unwrap();
    let (one, other) = (
        one.workspace_head().unwrap(),
        other.workspace_head().unwrap(),
    );
    assert_eq!(one.id(), other.id());
    assert_eq!(one.access(), WorkspaceHeadAccess::Shared);
    one.file_system().write_all("a", "x").await.unwrap();
    assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"x");
    let canonical = std::fs::canonicalize(folder.path()).unwrap();
    let payload = one.binding().payload.to_json();
    assert!(payload.contains(canonical.to_str().unwrap()), "{payload}");
}

/// Proves C25 for building agents: the provider-named variant is emitted.
#[test]
fn c25_two_backends_of_one_id_are_refused() {
    let build = |builder: everruns_engine::AgentBuilder| builder.build().unwrap_err();
    let twice = agent_of(&Script::default())
        .workspace_backend(memory())
        .workspace_backend(memory());
    assert!(matches!(
        build(twice),
        BuildError::DuplicateWorkspaceProvider { .. }
    ));
}

#[test]
fn agents_that_cannot_work_are_not_built() {
    let script = Script::default();
    let error = |builder: everruns_engine::AgentBuilder| builder.build().unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let missing = folder.path().join("missing");

    assert!(matches!(
        error(Agent::builder().model("m")),
        BuildError::MissingProvider
    ));
    assert!(matches!(
        error(Agent::builder().provider(script.clone())),
        BuildError::MissingModel
    ));
    assert!(matches!(
        error(
            agent_of(&script)
                .tool(Echo::default())
                .tool(Echo::default())
        ),
        BuildError::DuplicateTool { .. }
    ));
    assert!(matches!(
        error(agent_of(&script).workspace(&missing)),
        BuildError::FolderMissing { .. }
    ));
    assert!(matches!(
        error(agent_of(&script).workspace(&file)),
        BuildError::NotAFolder { .. }
    ));
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    let root = |name| {
        agent_of(&script)
            .state_folder(folder.path().join("state"))
            .workspace_root(name, &docs, RootAccess::ReadOnly)
    };
    assert!(matches!(error(root("a/b")), BuildError::InvalidPath { .. }));
    let twice = root("a").workspace_root("a", &docs, RootAccess::ReadOnly);
    assert!(matches!(error(twice), BuildError::DuplicateRoot { .. }));
    assert!(matches!(
        error(agent_of(&script).file("../x", "")),
        BuildError::InvalidPath { .. }
    ));
    assert!(matches!(
        error(agent_of(&script).file("x", "").readonly_file("./x", "")),
        BuildError::DuplicateFile { .. }
    ));
    assert!(matches!(
        error(agent_of(&script).file("x", "").file("x/y", "")),
        BuildError::InvalidFile(_)
    ));
    assert!(matches!(
        error(agent_of(&script).max_iterations(0)),
        BuildError::NoIterations
    ));
}

/// Proves C14: the binding is recorded before the lease is taken and anything is appended or asked.
#[tokio::test]
async fn c14_the_binding_is_recorded_before_anything_executes() {
    let store = Watched::new();
    let engine = Engine::builder()
        .store(Arc::clone(&store) as Arc<dyn SessionStore>)
        .build();
    let script = Script::new([Step::Say("Hi.")]);
    let session = engine.create(agent(&script));
    session.send_and_wait("Hello.").await.unwrap();
    let calls = store.calls();
    assert_eq!(calls[..4], ["create", "bind", "lease", "append"]);
    let record = store.session(session.session_id()).await.unwrap();
    assert_eq!(
        record.binding.unwrap(),
        session.workspace_head().unwrap().binding()
    );
    let appends = calls.iter().filter(|call| **call == "append").count();
    assert_eq!(
        appends, 3,
        "one for the start and two for a turn without tools"
    );
}

#[tokio::test]
async fn a_turn_with_one_call_appends_four_times() {
    let store = Watched::new();
    let engine = engine_over(&(Arc::clone(&store) as Arc<dyn SessionStore>));
    let script = Script::new([
        Step::Call(vec![("echo", serde_json::json!({}))]),
        Step::Say("Done."),
    ]);
    let session = engine.create(agent_of(&script).tool(Echo::default()).build().unwrap());
    session.start().await.unwrap();
    store.forget_calls();
    session.send_and_wait("Echo.").await.unwrap();
    assert_eq!(store.calls(), ["append"; 4]);
}

/// Proves C14: without a binding nothing executes, and nothing is left.
#[tokio::test]
async fn c14_h65_an_unbound_session_never_executes() {
    let store = Watched::refusing_bindings();
    let engine = engine_over(&(Arc::clone(&store) as Arc<dyn SessionStore>));
    let script = Script::new([Step::Say("Hi.")]);
    let session = engine.create(agent(&script));
    assert!(session.send("Hello.").await.is_err());
    assert!(script.requests().is_empty());
    assert!(!store.calls().contains(&"append"));
    let page = engine.sessions(SessionQuery::default()).await.unwrap();
    assert!(page.sessions.is_empty());
}

/// Proves C16: the memory backend is there without registration, and one that is registered takes its place.
#[tokio::test]
async fn c16_a_registered_memory_backend_serves_the_default_head() {
    let own: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
    let agent = agent_of(&Script::default())
        .workspace_backend(Arc::clone(&own))
        .build()
        .unwrap();
    let session = Engine::new().create(agent);
    session.start().await.unwrap();
    let head = session.workspace_head().unwrap();
    assert!(own.heads(head.workspace_id()).await.unwrap().len() == 1);
}

#[tokio::test]
async fn titles_are_kept_before_and_after_the_start() {
    let session = Engine::new().create(agent(&Script::default()));
    session.set_title("First").await.unwrap();
    let record = session.inspect().await.unwrap().record;
    assert_eq!(record.title.as_deref(), Some("First"));
    assert_eq!(
        record.agent,
        AgentSummary {
            name: "tester".into(),
            provider: "scripted".into(),
            model: "scripted-1".into()
        }
    );
    session.set_title("Second").await.unwrap();
    let record = session.inspect().await.unwrap().record;
    assert_eq!(record.title.as_deref(), Some("Second"));
}
