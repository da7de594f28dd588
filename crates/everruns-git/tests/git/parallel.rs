//! Many at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everruns_core::failpoint;
use everruns_core::workspace::Workspace;

use crate::fixture::{Scene, backend, git, porcelain};

/// H52: creations at once, through several backends over one state, all succeed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn h52_parallel_creations_all_succeed() {
    let scene = Scene::new();
    let locator = scene.repository.path.to_str().unwrap().to_owned();
    let mut tasks = Vec::new();
    for number in 0..12 {
        let backend = if number % 2 == 0 {
            Arc::clone(&scene.backend)
        } else {
            scene.reopened()
        };
        let locator = locator.clone();
        tasks.push(tokio::spawn(async move {
            let workspace = Workspace::open(backend, &locator).await.unwrap();
            workspace
                .head(format!("head {number}"))
                .create()
                .await
                .unwrap()
        }));
    }
    let mut ids = BTreeSet::new();
    for task in tasks {
        let head = task.await.unwrap();
        assert!(porcelain(&scene.folder(&head)).is_empty());
        ids.insert(head.id().clone());
    }
    assert_eq!(ids.len(), 12);
    assert_eq!(
        git(&scene.repository.path, &["worktree", "list"])
            .lines()
            .count(),
        13
    );
    assert_eq!(scene.workspace().await.heads().await.unwrap().len(), 12);
    assert_eq!(
        std::fs::read_dir(scene.state.join("intents"))
            .unwrap()
            .count(),
        0
    );
}

/// Of many creations of one name, one succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_name_goes_to_one_head() {
    let scene = Scene::new();
    let workspace = scene.workspace().await;
    let tasks: Vec<_> = (0..6)
        .map(|_| tokio::spawn(workspace.head("same").create()))
        .collect();
    let mut made = 0;
    for task in tasks {
        made += u32::from(task.await.unwrap().is_ok());
    }
    assert_eq!(made, 1);
    assert_eq!(
        git(&scene.repository.path, &["worktree", "list"])
            .lines()
            .count(),
        2
    );
    assert_eq!(
        git(&scene.repository.path, &["branch", "--list", "everruns/*"])
            .lines()
            .count(),
        1
    );
}

const STATE: &str = "EVERRUNS_GIT_TEST_PARALLEL_STATE";
const LOCATOR: &str = "EVERRUNS_GIT_TEST_PARALLEL_LOCATOR";

/// Makes 16 heads at once, and returns when all of them are there.
async fn sixteen(scene_state: &std::path::Path, locator: &str, whose: &str) {
    let workspace = Workspace::open(backend(scene_state), locator)
        .await
        .unwrap();
    let creations: Vec<_> = (0..16)
        .map(|number| tokio::spawn(workspace.head(format!("{whose} {number}")).create()))
        .collect();
    for creation in creations {
        creation.await.unwrap().unwrap();
    }
}

/// Not a test of its own: what the second process of the next one runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_process() {
    let Some(state) = std::env::var_os(STATE) else {
        return;
    };
    let locator = std::env::var(LOCATOR).unwrap();
    sixteen(std::path::Path::new(&state), &locator, "theirs").await;
}

/// Proves H52: 32 heads made at once by two processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(
    clippy::disallowed_methods,
    reason = "the second process is this test binary itself"
)]
async fn h52_two_processes_make_32_heads_at_once() {
    let scene = Scene::new();
    let locator = scene.repository.path.to_str().unwrap().to_owned();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["parallel::second_process", "--exact", "--nocapture"])
        .env(STATE, &scene.state)
        .env(LOCATOR, &locator)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    sixteen(&scene.state, &locator, "ours").await;
    let output = tokio::task::spawn_blocking(|| child.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    assert!(output.status.success());
    let heads = scene.workspace().await.heads().await.unwrap();
    let ids: BTreeSet<_> = heads.iter().map(|head| head.id.clone()).collect();
    assert_eq!(ids.len(), 32);
    let listed = git(&scene.repository.path, &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 33);
    let workspace = scene.workspace().await;
    for head in &heads {
        let head = workspace.open_head(&head.id).await.unwrap();
        assert!(porcelain(&scene.folder(&head)).is_empty());
    }
    assert!(
        scene
            .backend
            .doctor(false)
            .await
            .unwrap()
            .findings
            .is_empty()
    );
    git(&scene.repository.path, &["fsck", "--strict"]);
}

/// The lock of what Git shares is held for that alone: while one head's files are checked out, another is made.
#[tokio::test]
async fn h52_a_checkout_keeps_nobody_from_making_another_head() {
    let scene = Scene::new();
    let workspace = scene.workspace().await;
    let (state, locator) = (scene.state.clone(), scene.repository.path.clone());
    let others = Arc::new(AtomicUsize::new(0));
    let made = Arc::clone(&others);
    failpoint::arm("git.create.after-checkout", move || {
        // The other one comes by here as well.
        if made.fetch_add(1, Ordering::SeqCst) > 0 {
            return true;
        }
        let (state, locator) = (state.clone(), locator.clone());
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            let head = runtime.block_on(async {
                let locator = locator.to_str().unwrap();
                let workspace = Workspace::open(backend(&state), locator).await.unwrap();
                workspace.head("second").create().await.unwrap()
            });
            sender.send(head.id().clone()).unwrap();
        });
        // Long before anybody gives up waiting for a lock.
        receiver.recv_timeout(Duration::from_secs(30)).is_ok()
    });
    let first = workspace.head("first").create().await;
    failpoint::disarm_all();
    first.expect("the second one is made meanwhile");
    assert_eq!(others.load(Ordering::SeqCst), 2);
    assert_eq!(workspace.heads().await.unwrap().len(), 2);
}
