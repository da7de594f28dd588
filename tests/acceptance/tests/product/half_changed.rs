//! Going back that fails in the middle, and can't be undone either, on a real Git head.

use std::sync::Arc;

use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, Sequence};
use everruns::{
    Agent, Engine, LocalGitWorkspace, Session, SessionError, Simulated, Workspace, WorkspaceError,
    WorkspacePolicy, failpoint,
};
use everruns_testkit::failpoints::{Child, is_child};
use everruns_testkit::git::GitFixture;
use futures::StreamExt as _;
use serde_json::json;

const TEST: &str = "half_changed::h63_a_session_does_not_go_on_over_half_changed_files";

fn script() -> Simulated {
    let write = |path: &str| json!({"path": path, "content": "made\n"});
    Simulated::new()
        .call("write_file", write("first.txt"))
        .say("First.")
        .call("write_file", write("second.txt"))
        .say("Second.")
        .call("write_file", write("third.txt"))
        .say("Third.")
}

async fn recorded(session: &Session) -> Vec<EventPayload> {
    let last = session.inspect().await.unwrap().record.last_sequence;
    let mut events = session.events(Sequence::START);
    let mut payloads = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        payloads.push(event.payload);
        if event.sequence == last {
            break;
        }
    }
    payloads
}

fn is_unfinished(error: &SessionError) -> bool {
    matches!(
        error,
        SessionError::Workspace(WorkspaceError::HeadUnfinished { .. })
    )
}

/// Proves H63: the caller is told, the session does not go on over half changed files, and once it can, it goes on over
/// those from before, as its record says. In a process of its own, because failpoints are the process's.
#[tokio::test]
async fn h63_a_session_does_not_go_on_over_half_changed_files() {
    if !is_child() {
        let child = Child::of_test(TEST);
        let ended = tokio::task::spawn_blocking(move || child.run()).await;
        return ended.unwrap().assert_passed();
    }
    let project = GitFixture::sample();
    let backend = Arc::new(LocalGitWorkspace::new(project.beside("state")).unwrap());
    let workspace = Workspace::open(backend, project.path().to_str().unwrap())
        .await
        .unwrap();
    let head = workspace.head("half").create().await.unwrap();
    let root = head
        .file_system()
        .host_path(&WorkspacePath::root())
        .unwrap();
    let agent = Agent::builder()
        .provider(script())
        .model("simulated")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap();
    let engine = Engine::local(project.beside("sessions")).await.unwrap();
    let session = engine.create(agent).workspace(head).start().await.unwrap();
    session.send_and_wait("One.").await.unwrap();
    let first = session.inspect().await.unwrap().record.last_sequence;
    session.send_and_wait("Two.").await.unwrap();

    failpoint::arm("git.restore.after-files", || false);
    failpoint::arm("git.restore.before-undo", || false);
    let failure = session.rewind(first).await.unwrap_err();
    failpoint::disarm_all();
    assert!(is_unfinished(&failure), "{failure:?}");
    assert!(!root.join("second.txt").exists(), "it is half done");

    // In the way of putting it back, and not ours to remove.
    std::fs::create_dir(root.join("second.txt")).unwrap();
    std::fs::write(root.join("second.txt/own.log"), "mine\n").unwrap();
    let before = recorded(&session).await;
    assert!(
        matches!(before.last(), Some(EventPayload::RewindFailed { to, .. }) if *to == first),
        "{before:?}"
    );
    for _ in 0..2 {
        let failure = session.send("Three.").await.unwrap_err();
        assert!(is_unfinished(&failure), "{failure:?}");
    }
    assert_eq!(recorded(&session).await, before, "nothing has happened");

    std::fs::remove_dir_all(root.join("second.txt")).unwrap();
    assert!(session.send_and_wait("Three.").await.unwrap().success);
    for name in ["first.txt", "second.txt", "third.txt"] {
        assert_eq!(std::fs::read(root.join(name)).unwrap(), b"made\n", "{name}");
    }
    session.rewind(first).await.unwrap();
    assert!(root.join("first.txt").exists() && !root.join("second.txt").exists());
}
