//! A session whose head has to be waited for, and one whose files are brought back before its next turn.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use everruns::clock::{Clock as _, SystemClock};
use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, LeaseOwner, Sequence, SessionStore, StoreError};
use everruns::{
    Agent, Engine, InMemorySessionStore, LocalGitWorkspace, Session, SessionError, SessionId,
    Simulated, Workspace, WorkspaceHead, WorkspacePolicy,
};
use everruns_core::failpoint;
use everruns_testkit::git::GitFixture;
use futures::StreamExt as _;
use serde_json::json;

async fn head(project: &Path, state: &Path) -> WorkspaceHead {
    let backend = Arc::new(LocalGitWorkspace::new(state).unwrap());
    let workspace = Workspace::open(backend, project.to_str().unwrap())
        .await
        .unwrap();
    workspace.head("mine").create().await.unwrap()
}

fn root(head: &WorkspaceHead) -> PathBuf {
    let files = head.file_system();
    files.host_path(&WorkspacePath::root()).unwrap()
}

/// A session on `head` that has written `a.txt` twice, and will write `b.txt`.
async fn session(engine: &Engine, head: &WorkspaceHead) -> (Session, Sequence) {
    let write = |path: &str, text: &str| json!({"path": path, "content": text});
    let script = Simulated::new()
        .call("write_file", write("a.txt", "one\n"))
        .say("First.")
        .call("write_file", write("a.txt", "two\n"))
        .say("Second.")
        .call("write_file", write("b.txt", "three\n"))
        .say("Third.");
    let agent = Agent::builder()
        .provider(script)
        .model("simulated")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap();
    let created = engine.create(agent).workspace(head.clone());
    let session = created.start().await.unwrap();
    session.send_and_wait("One.").await.unwrap();
    let first = end_of_turn(&session, 1).await;
    session.send_and_wait("Two.").await.unwrap();
    (session, first)
}

async fn end_of_turn(session: &Session, turn: u64) -> Sequence {
    let mut events = session.events(Sequence::START);
    loop {
        let event = events.next().await.unwrap().unwrap();
        if matches!(event.payload, EventPayload::TurnEnded { turn: of, .. } if of == turn) {
            return event.sequence;
        }
    }
}

/// While a turn waits for somebody else who rewrites the files of its head, its session can be looked at and closed.
#[tokio::test(flavor = "multi_thread")]
async fn h54_a_session_can_be_closed_while_its_turn_waits_for_the_head() {
    let project = GitFixture::sample();
    let head = head(&project.path(), &project.beside("state")).await;
    let (session, _) = session(&Engine::new(), &head).await;
    let (reached, at) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    failpoint::arm("git.restore.after-removals", move || {
        reached.send(()).unwrap();
        wait.lock().unwrap().recv().is_ok()
    });
    let first = head.checkpoints().await.unwrap().remove(0);
    let other = head.clone();
    let restoring = tokio::spawn(async move { other.restore(&first).await });
    tokio::task::spawn_blocking(move || at.recv().unwrap())
        .await
        .unwrap();
    let sender = session.clone();
    let sending = tokio::spawn(async move { sender.send_and_wait("Three.").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!sending.is_finished(), "the files are half way");

    let patience = Duration::from_secs(10);
    let inspected = tokio::time::timeout(patience, session.inspect()).await;
    inspected.expect("it can be looked at").unwrap();
    let closed = tokio::time::timeout(patience, session.close()).await;
    closed.expect("it can be closed");
    assert!(!sending.is_finished());

    go.send(()).unwrap();
    restoring.await.unwrap().unwrap();
    assert!(sending.await.unwrap().unwrap().success);
    assert_eq!(
        std::fs::read(root(&head).join("b.txt")).unwrap(),
        b"three\n"
    );
}

/// Proves H63 for a session: a rewind that was cut short is finished before the next turn has the head, and so is not
/// refused because of that turn.
#[tokio::test]
async fn h63_a_rewind_that_was_cut_short_is_finished_before_the_next_turn() {
    let project = GitFixture::sample();
    let head = head(&project.path(), &project.beside("state")).await;
    let (session, first) = session(&Engine::new(), &head).await;
    failpoint::arm("engine.rewind.after-intent", || false);
    session.rewind(first).await.unwrap_err();
    failpoint::disarm_all();
    let root = root(&head);
    assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"two\n");

    session.send_and_wait("Three.").await.unwrap();
    assert_eq!(std::fs::read(root.join("a.txt")).unwrap(), b"one\n");
    assert_eq!(std::fs::read(root.join("b.txt")).unwrap(), b"three\n");
    let mut events = session.events(Sequence::START);
    while let Some(event) = events.next().await {
        match event.unwrap().payload {
            EventPayload::RewindFailed { reason, .. } => panic!("{reason}"),
            EventPayload::TurnEnded { turn: 3, .. } => break,
            _ => {}
        }
    }
}

/// The lease of a session whose files take longer to bring back, or to fork, than it runs: nobody else may take it for
/// that of a process which is gone, and finish or give up what is under way.
#[tokio::test(flavor = "multi_thread")]
async fn h53_a_rewind_or_fork_that_takes_long_keeps_the_lease() {
    let project = GitFixture::sample();
    let head = head(&project.path(), &project.beside("state")).await;
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let engine = Engine::builder()
        .store(Arc::clone(&store))
        .lease_duration(LEASE)
        .build();
    let (session, first) = session(&engine, &head).await;
    let id = session.session_id().clone();

    let other = session.clone();
    let rewinding = async move { other.rewind(first).await.map(drop) };
    others_are_kept_out(&store, &id, "git.restore.after-removals", rewinding).await;
    let a = std::fs::read(root(&head).join("a.txt")).unwrap();
    assert_eq!(a, b"one\n");

    let other = session.clone();
    let forking = async move { other.fork("other").await.map(drop) };
    others_are_kept_out(&store, &id, "git.create.after-checkout", forking).await;
    assert!(session.send_and_wait("Three.").await.unwrap().success);
}

const LEASE: Duration = Duration::from_secs(1);

/// Does `work`, which reaches `step`, and stops it there for longer than a lease runs.
async fn others_are_kept_out(
    store: &Arc<dyn SessionStore>,
    session: &SessionId,
    step: &str,
    work: impl Future<Output = Result<(), SessionError>> + Send + 'static,
) {
    let (reached, at) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    failpoint::arm(step, move || {
        reached.send(()).unwrap();
        wait.lock().unwrap().recv().is_ok()
    });
    let work = tokio::spawn(work);
    let patience = Duration::from_secs(20);
    tokio::task::spawn_blocking(move || at.recv_timeout(patience).unwrap())
        .await
        .unwrap();
    let other = LeaseOwner("a process of another host".to_owned());
    let began = Instant::now();
    let (mut end, mut since) = (None, Instant::now());
    while began.elapsed() < 2 * LEASE {
        let now = SystemClock.now();
        let taken = store.acquire_lease(session, &other, now, LEASE).await;
        let Err(StoreError::LeaseHeld { expires_at, .. }) = taken else {
            panic!("{taken:?} {:?} after {step}", began.elapsed());
        };
        if end != Some(expires_at) {
            (end, since) = (Some(expires_at), Instant::now());
        }
        // Whoever waits takes it when it was not renewed for as long as it runs.
        assert!(
            since.elapsed() < LEASE,
            "{:?} after {step}",
            began.elapsed()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    failpoint::disarm_all();
    go.send(()).unwrap();
    work.await.unwrap().unwrap();
}
