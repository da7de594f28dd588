//! A session on a Git head with its records in SQLite, killed with SIGKILL at each step of its start and turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, SessionQuery, ToolOutcome, TurnOutcome};
use everruns::{
    Agent, Engine, LocalGitWorkspace, ResumeError, Session, Simulated, Workspace,
    WorkspaceHeadState, WorkspacePolicy,
};
use everruns_testkit::failpoints::{Child, argument, is_child, kill_at};
use everruns_testkit::git::GitFixture;
use futures::StreamExt as _;
use serde_json::json;

const START: &[&str] = &[
    "engine.start.after-create",
    "engine.start.after-bind",
    "engine.start.after-claim",
    "engine.start.after-lease",
    "engine.start.after-started",
];
const TURN: &[&str] = &[
    "engine.turn.after-user-message",
    "engine.turn.after-assistant-message",
    "engine.turn.after-tool-before-result",
    "engine.turn.after-result",
    "engine.turn.before-end",
];

fn path(name: &str) -> PathBuf {
    argument(name).expect("the parent gives it").into()
}

fn agent(state: &Path, script: Simulated) -> Agent {
    Agent::builder()
        .instructions("Work in the selected project head.")
        .provider(script)
        .model("simulated")
        .workspace_backend(Arc::new(LocalGitWorkspace::new(state).unwrap()))
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap()
}

/// The child: starts a session and runs a turn with one tool call, until the armed step kills it.
async fn work(project: &Path, state: &Path, sessions: &Path) {
    let backend = Arc::new(LocalGitWorkspace::new(state).unwrap());
    let workspace = Workspace::open(backend, project.to_str().unwrap())
        .await
        .unwrap();
    let head = workspace.head("crash").create().await.unwrap();
    let script = Simulated::new()
        .call(
            "write_file",
            json!({"path": "made.txt", "content": "made\n"}),
        )
        .say("Done.");
    let agent = Agent::builder()
        .provider(script)
        .model("simulated")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap();
    let engine = Engine::local(sessions).await.unwrap();
    let session = engine.create(agent).workspace(head).start().await.unwrap();
    session.send_and_wait("Make it.").await.unwrap();
}

/// Kills a child at `step`; then the session is resumed here on exactly its head, or says why not.
async fn kill_and_resume(test: &str, step: &str) {
    let project = GitFixture::sample();
    let before = project.snapshot();
    let (state, sessions) = (project.beside("state"), project.beside("sessions"));
    Child::of_test(test)
        .argument("STEP", step)
        .argument("PROJECT", project.path())
        .argument("STATE", &state)
        .argument("SESSIONS", &sessions)
        .run()
        .assert_killed();

    let engine = Engine::local(&sessions).await.unwrap();
    let listed = engine
        .sessions(SessionQuery::default())
        .await
        .unwrap()
        .sessions;
    assert_eq!(listed.len(), 1, "{step}");
    let record = &listed[0];
    let script = Simulated::new()
        .call("list_directory", json!({"path": "."}))
        .say("I have looked, and go on.");
    engine.attach(&record.id, agent(&state, script));
    let resumed = engine.resume(&record.id).await;
    if step == "engine.start.after-create" {
        assert!(
            matches!(resumed, Err(ResumeError::NotBound { .. })),
            "{step}: {resumed:?}"
        );
        assert_eq!(
            record.last_sequence.0, 0,
            "{step}: an unbound session has executed something"
        );
    } else {
        let session = resumed.unwrap();
        let head = session.workspace_head().unwrap();
        assert_eq!(
            head.id(),
            &record.binding.as_ref().unwrap().head_id,
            "{step}"
        );
        check_record(step, &session).await;
        let turn = session.send_and_wait("Go on.").await.unwrap();
        assert!(turn.success, "{step}: {turn:?}");
        let written = head
            .file_system()
            .host_path(&WorkspacePath::parse("made.txt").unwrap())
            .unwrap();
        let expected = TURN.contains(&step) && !step.ends_with("-message");
        assert_eq!(written.exists(), expected, "{step}: what the tool wrote");
        session.close().await;
    }
    before.assert_unchanged(&project.snapshot());
    let backend = Arc::new(LocalGitWorkspace::new(&state).unwrap());
    let workspace = Workspace::open(backend, project.path().to_str().unwrap())
        .await
        .unwrap();
    let heads = workspace.heads().await.unwrap();
    assert!(
        heads.len() == 1 && heads[0].state == WorkspaceHeadState::Ready,
        "{step}: {heads:?}"
    );
}

/// The interrupted turn is closed, and a call whose outcome was not recorded says so.
async fn check_record(step: &str, session: &Session) {
    let last = session.inspect().await.unwrap().record.last_sequence;
    let mut events = session.events(everruns::session::Sequence::START);
    let (mut unknown, mut interrupted) = (0, 0);
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        match event.payload {
            EventPayload::ToolResult {
                outcome: ToolOutcome::Unknown,
                ..
            } => unknown += 1,
            EventPayload::TurnEnded {
                outcome: TurnOutcome::Interrupted,
                ..
            } => interrupted += 1,
            _ => {}
        }
        if event.sequence >= last {
            break;
        }
    }
    let in_turn = usize::from(TURN.contains(&step));
    assert_eq!(interrupted, in_turn, "{step}: interrupted turns");
    let in_call = [
        "engine.turn.after-assistant-message",
        "engine.turn.after-tool-before-result",
    ];
    assert_eq!(
        unknown,
        usize::from(in_call.contains(&step)),
        "{step}: calls of unknown outcome"
    );
}

async fn parent_or_child(test: &str, steps: &[&str]) {
    if is_child() {
        kill_at(argument("STEP").unwrap().to_str().unwrap());
        work(&path("PROJECT"), &path("STATE"), &path("SESSIONS")).await;
        return;
    }
    for step in steps {
        kill_and_resume(test, step).await;
    }
}

/// Proves C14, C15
#[tokio::test]
async fn c14_h65_a_session_killed_while_it_starts_is_bound_or_not_and_never_executes_unbound() {
    parent_or_child(
        "crash::c14_h65_a_session_killed_while_it_starts_is_bound_or_not_and_never_executes_unbound",
        START,
    )
    .await;
}

/// Proves C03, C15
#[tokio::test]
async fn c15_h66_a_session_killed_in_its_turn_goes_on_on_exactly_its_head() {
    parent_or_child(
        "crash::c15_h66_a_session_killed_in_its_turn_goes_on_on_exactly_its_head",
        TURN,
    )
    .await;
}
