//! A fork on a Git head that its user deletes before its source learns that it was made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns::path::WorkspacePath;
use everruns::session::{SessionQuery, SessionRecord};
use everruns::{
    Agent, Engine, LocalGitWorkspace, Simulated, Workspace, WorkspaceHead, WorkspaceHeadState,
    WorkspacePolicy,
};
use everruns_testkit::failpoints::{Child, argument, is_child, kill_at};
use everruns_testkit::git::GitFixture;
use serde_json::json;

fn path(name: &str) -> PathBuf {
    argument(name).expect("the parent gives it").into()
}

fn agent(backend: Arc<LocalGitWorkspace>, script: Simulated) -> Agent {
    Agent::builder()
        .provider(script)
        .model("simulated")
        .workspace_backend(backend)
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap()
}

/// The child: makes a fork at the end of a turn that wrote a file, and is killed when its session is recorded.
async fn fork(project: &Path, state: &Path, sessions: &Path) {
    let backend = Arc::new(LocalGitWorkspace::new(state).unwrap());
    let workspace = Workspace::open(
        Arc::<LocalGitWorkspace>::clone(&backend),
        project.to_str().unwrap(),
    )
    .await
    .unwrap();
    let head = workspace.head("source").create().await.unwrap();
    let made = json!({"path": "made.txt", "content": "made\n"});
    let script = Simulated::new().call("write_file", made).say("Done.");
    let engine = Engine::local(sessions).await.unwrap();
    let session = engine.create(agent(backend, script)).workspace(head);
    let session = session.start().await.unwrap();
    session.send_and_wait("Make it.").await.unwrap();
    let end = session.inspect().await.unwrap().record.last_sequence;
    kill_at("engine.fork.after-session");
    session.fork_at("forked", end).await.unwrap();
}

/// What the killed child has left: its two sessions, and the fork's worktree.
struct Left {
    project: GitFixture,
    engine: Engine,
    backend: Arc<LocalGitWorkspace>,
    source: SessionRecord,
    fork: SessionRecord,
    worktree: PathBuf,
}

impl Left {
    async fn by(test: &str) -> Self {
        let project = GitFixture::sample();
        let (state, sessions) = (project.beside("state"), project.beside("sessions"));
        Child::of_test(test)
            .argument("PROJECT", project.path())
            .argument("STATE", &state)
            .argument("SESSIONS", &sessions)
            .run()
            .assert_killed();
        let engine = Engine::local(&sessions).await.unwrap();
        let listed = engine.sessions(SessionQuery::default()).await.unwrap();
        let mut sessions = listed.sessions.into_iter();
        let [one, other] = [sessions.next().unwrap(), sessions.next().unwrap()];
        let is_fork = |session: &SessionRecord| session.title.as_deref() == Some("forked");
        let (fork, source) = if is_fork(&one) {
            (one, other)
        } else {
            (other, one)
        };
        assert!(is_fork(&fork) && !is_fork(&source));
        let backend = Arc::new(LocalGitWorkspace::new(&state).unwrap());
        let head = WorkspaceHead::reopen(
            Arc::<LocalGitWorkspace>::clone(&backend),
            fork.binding.as_ref().unwrap(),
        );
        let worktree = head
            .await
            .unwrap()
            .file_system()
            .host_path(&WorkspacePath::root());
        Self {
            worktree: worktree.unwrap(),
            project,
            engine,
            backend,
            source,
            fork,
        }
    }

    /// The user deletes the fork, and goes on in the head that it leaves.
    async fn delete_fork_and_work(&self) {
        self.delete(&self.fork).await;
        assert_eq!(self.read("made.txt"), "made\n");
        std::fs::write(self.worktree.join("made.txt"), "made better\n").unwrap();
        std::fs::write(self.worktree.join("mine.txt"), "mine\n").unwrap();
    }

    async fn delete(&self, session: &SessionRecord) {
        self.attach(session);
        let deleting = self.engine.delete_session(&session.id, session.id.as_str());
        deleting.await.unwrap();
    }

    fn attach(&self, session: &SessionRecord) {
        let script = Simulated::new().say("On.");
        self.engine
            .attach(session.id.clone(), agent(Arc::clone(&self.backend), script));
    }

    fn read(&self, file: &str) -> String {
        let read = std::fs::read(self.worktree.join(file)).unwrap();
        String::from_utf8(read).unwrap()
    }

    /// The head is as its user has left it, usable, and nobody's.
    async fn check(&self, sessions: usize) {
        assert_eq!(self.read("made.txt"), "made better\n");
        assert_eq!(self.read("mine.txt"), "mine\n");
        let listed = self.engine.sessions(SessionQuery::default()).await.unwrap();
        assert_eq!(listed.sessions.len(), sessions, "{listed:?}");
        let project = self.project.path();
        let workspace = Workspace::open(
            Arc::<LocalGitWorkspace>::clone(&self.backend),
            project.to_str().unwrap(),
        )
        .await
        .unwrap();
        let heads = workspace.heads().await.unwrap();
        let forked = heads.iter().find(|head| head.name.as_str() == "forked");
        assert_eq!(forked.unwrap().state, WorkspaceHeadState::Ready);
        let head = WorkspaceHead::reopen(
            Arc::<LocalGitWorkspace>::clone(&self.backend),
            self.fork.binding.as_ref().unwrap(),
        );
        let script = Simulated::new().say("I go on here.");
        let next = self.engine.create(agent(Arc::clone(&self.backend), script));
        let next = next.workspace(head.await.unwrap()).start().await.unwrap();
        assert!(next.send_and_wait("Go on.").await.unwrap().success);
        assert_eq!(self.read("mine.txt"), "mine\n");
    }
}

async fn in_child() -> bool {
    if is_child() {
        fork(&path("PROJECT"), &path("STATE"), &path("SESSIONS")).await;
    }
    is_child()
}

/// Proves C11 and H61: resuming the source neither brings the fork back nor resets the head that it left.
#[tokio::test]
async fn c11_h61_a_deleted_fork_does_not_come_back_when_its_source_is_resumed() {
    if in_child().await {
        return;
    }
    let left = Left::by(
        "deleted_fork::c11_h61_a_deleted_fork_does_not_come_back_when_its_source_is_resumed",
    )
    .await;
    left.delete_fork_and_work().await;
    left.attach(&left.source);
    let source = left.engine.resume(&left.source.id).await.unwrap();
    assert!(source.send_and_wait("Go on.").await.unwrap().success);
    left.check(1).await;
}

/// Proves C11 and H61: deleting the source does not destroy the head that the deleted fork left.
#[tokio::test]
async fn c11_h61_a_deleted_fork_leaves_its_head_when_its_source_is_deleted() {
    if in_child().await {
        return;
    }
    let left =
        Left::by("deleted_fork::c11_h61_a_deleted_fork_leaves_its_head_when_its_source_is_deleted")
            .await;
    left.delete_fork_and_work().await;
    left.delete(&left.source).await;
    left.check(0).await;
}
