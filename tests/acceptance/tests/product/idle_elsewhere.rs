//! What happens to the head of an idle session while it is open: another process works on it and is killed.

use std::path::Path;
use std::sync::Arc;

use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, Sequence, ToolOutcome};
use everruns::{Agent, Engine, LocalGitWorkspace, Session, Simulated, Workspace, WorkspacePolicy};
use everruns_testkit::failpoints::{Child, argument, is_child, kill_at};
use everruns_testkit::git::GitFixture;
use futures::StreamExt as _;
use serde_json::json;

const TEST: &str =
    "idle_elsewhere::c08_h63_an_idle_session_overwrites_nothing_of_what_was_done_meanwhile";

async fn workspace(project: &Path, state: &Path) -> Workspace {
    let backend = Arc::new(LocalGitWorkspace::new(state).unwrap());
    let locator = project.to_str().unwrap();
    Workspace::open(backend, locator).await.unwrap()
}

/// The other process: takes the head back to how it was after the first turn, and dies in the middle.
async fn go_back(project: &Path, state: &Path) {
    kill_at("git.restore.after-removals");
    let workspace = workspace(project, state).await;
    let head = workspace.heads().await.unwrap().remove(0);
    let head = workspace.open_head(&head.id).await.unwrap();
    let mut found = Vec::new();
    for checkpoint in head.checkpoints().await.unwrap() {
        let plan = head.plan_restore(&checkpoint).await.unwrap();
        if plan
            .steps
            .iter()
            .any(|step| step.path == "extra.txt" && step.removes)
        {
            found.push(checkpoint);
        }
    }
    let last = found.last().expect("there is one without the second file");
    head.restore(last).await.unwrap();
}

async fn outcomes(session: &Session, turn: u64) -> Vec<ToolOutcome> {
    let mut events = session.events(Sequence::START);
    let mut outcomes = Vec::new();
    while let Some(event) = events.next().await {
        match event.unwrap().payload {
            EventPayload::ToolResult {
                turn: of, outcome, ..
            } if of == turn => outcomes.push(outcome),
            EventPayload::TurnEnded { turn: of, .. } if of == turn => break,
            _ => {}
        }
    }
    outcomes
}

/// Proves C08 and H63 for an idle session: whether or not a third process has opened the state since, its next turn
/// finds whole files, its next write of one that was changed is refused, and nobody changes what it does then.
#[tokio::test]
async fn c08_h63_an_idle_session_overwrites_nothing_of_what_was_done_meanwhile() {
    if is_child() {
        let given = |name: &str| std::path::PathBuf::from(argument(name).unwrap());
        go_back(&given("PROJECT"), &given("STATE")).await;
        return;
    }
    for opened_meanwhile in [false, true] {
        let project = GitFixture::sample();
        let state = project.beside("state");
        let head = workspace(&project.path(), &state).await;
        let head = head.head("idle").create().await.unwrap();
        let root = head
            .file_system()
            .host_path(&WorkspacePath::root())
            .unwrap();
        let write = |path: &str, text: &str| json!({"path": path, "content": text});
        let script = Simulated::new()
            .call("write_file", write("a.txt", "one\n"))
            .say("First.")
            .call("write_file", write("a.txt", "two\n"))
            .call("write_file", write("extra.txt", "extra\n"))
            .say("Second.")
            .call("write_file", write("a.txt", "three\n"))
            .call("write_file", write("b.txt", "three\n"))
            .say("Third.");
        let agent = Agent::builder()
            .provider(script)
            .model("simulated")
            .workspace_policy(WorkspacePolicy::read_write())
            .build()
            .unwrap();
        let engine = Engine::local(project.beside("sessions")).await.unwrap();
        let session = engine.create(agent).workspace(head).start().await.unwrap();
        session.send_and_wait("One.").await.unwrap();
        session.send_and_wait("Two.").await.unwrap();

        let child = Child::of_test(TEST)
            .argument("PROJECT", project.path())
            .argument("STATE", &state);
        let ended = tokio::task::spawn_blocking(move || child.run()).await;
        ended.unwrap().assert_killed();
        assert!(!root.join("extra.txt").exists(), "it has begun");
        if opened_meanwhile {
            drop(workspace(&project.path(), &state).await);
            assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"one\n");
        }

        session.send_and_wait("Three.").await.unwrap();
        let expected = [ToolOutcome::Failed, ToolOutcome::Succeeded];
        assert_eq!(outcomes(&session, 3).await, expected, "{opened_meanwhile}");
        drop(workspace(&project.path(), &state).await);
        assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"one\n");
        assert_eq!(std::fs::read(root.join("b.txt")).unwrap(), b"three\n");
        assert!(!root.join("extra.txt").exists());
    }
}
