//! One isolated head and two engines with stores of their own, in two processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use everruns::session::SessionQuery;
use everruns::{
    Agent, Engine, LocalGitWorkspace, SessionEnvironmentError, SessionError, SessionId, Simulated,
    Workspace, WorkspaceHeadDescriptor,
};
use everruns_testkit::failpoints::{Child, argument, is_child};
use everruns_testkit::git::GitFixture;

const HEADS: usize = 12;
const WON: &str = "won";

fn given(name: &str) -> PathBuf {
    argument(name).expect("the parent gives it").into()
}

/// Waits for the other process; each tells by a file how far it is.
async fn meet(folder: &Path, own: &str, other: &str, round: usize) {
    std::fs::write(folder.join(format!("{own}{round}")), "").unwrap();
    let other = folder.join(format!("{other}{round}"));
    for _ in 0..30_000 {
        if other.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the other process does not come to round {round}");
}

/// Tries to bind a session to each head at the moment when the other process does. Tells of each head the session that
/// was bound, or the one that was told to have it.
async fn contend(
    project: &Path,
    state: &Path,
    sessions: &Path,
    meeting: &Path,
    (own, other): (&str, &str),
) -> Vec<(SessionId, bool)> {
    let backend = Arc::new(LocalGitWorkspace::new(state).unwrap());
    let workspace = Workspace::open(backend, project.to_str().unwrap())
        .await
        .unwrap();
    let engine = Engine::local(sessions).await.unwrap();
    let heads: Vec<WorkspaceHeadDescriptor> = workspace.heads().await.unwrap();
    assert_eq!(heads.len(), HEADS);
    let (mut outcomes, mut bound) = (Vec::new(), Vec::new());
    for (round, descriptor) in heads.iter().enumerate() {
        let head = workspace.open_head(&descriptor.id).await.unwrap();
        let agent = Agent::builder()
            .provider(Simulated::new().say("Here."))
            .model("simulated")
            .build()
            .unwrap();
        let session = engine.create(agent).workspace(head);
        meet(meeting, own, other, round).await;
        match session.start().await {
            Ok(started) => {
                assert!(started.send_and_wait("Say so.").await.unwrap().success);
                outcomes.push((started.session_id().clone(), true));
                bound.push(started);
            }
            Err(SessionError::Environment(SessionEnvironmentError::HeadClaimed {
                head,
                session,
            })) => {
                assert_eq!(head, descriptor.id);
                outcomes.push((session, false));
            }
            Err(error) => panic!("round {round}: {error:?}"),
        }
    }
    // The loser has left nothing in its own store, so that it can go on with another head.
    let recorded = engine.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(recorded.sessions.len(), bound.len());
    outcomes
}

/// Proves H51b, C06: exactly one of two processes binds, the other is told which session has the head.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h51b_of_two_processes_with_stores_of_their_own_one_binds() {
    if is_child() {
        let outcomes = contend(
            &given("PROJECT"),
            &given("STATE"),
            &given("SESSIONS"),
            &given("MEETING"),
            ("child", "parent"),
        )
        .await;
        let told = outcomes.iter().map(|(session, won)| {
            let mark = if *won { WON } else { "" };
            format!("{session} {mark}\n")
        });
        std::fs::write(given("TOLD"), told.collect::<String>()).unwrap();
        return;
    }
    let project = GitFixture::sample();
    let [state, own, others, meeting, told] =
        ["state", "own", "others", "meeting", "told"].map(|name| project.beside(name));
    std::fs::create_dir(&meeting).unwrap();
    let backend = Arc::new(LocalGitWorkspace::new(&state).unwrap());
    let workspace = Workspace::open(backend, project.path().to_str().unwrap())
        .await
        .unwrap();
    for number in 0..HEADS {
        let name = format!("head {number}");
        workspace.head(name).create().await.unwrap();
    }
    let child =
        Child::of_test("two_stores::h51b_of_two_processes_with_stores_of_their_own_one_binds")
            .argument("PROJECT", project.path())
            .argument("STATE", &state)
            .argument("SESSIONS", &others)
            .argument("MEETING", &meeting)
            .argument("TOLD", &told);
    let child = tokio::task::spawn_blocking(move || child.run());
    let names = ("parent", "child");
    let here = contend(&project.path(), &state, &own, &meeting, names).await;
    child.await.unwrap().assert_passed();

    let there = String::from_utf8(std::fs::read(&told).unwrap()).unwrap();
    let there: Vec<(&str, bool)> = there
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(session, mark)| (session, mark == WON))
        .collect();
    assert_eq!((here.len(), there.len()), (HEADS, HEADS));
    for (round, (here, there)) in here.iter().zip(&there).enumerate() {
        assert!(here.1 != there.1, "round {round}: {here:?} and {there:?}");
        assert_eq!(here.0.as_str(), there.0, "round {round}: the winner");
    }
}
