//! Futures that are dropped before they are done.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use everruns_core::workspace::{CommitRequest, Workspace, WorkspaceHead};

use crate::fixture::{Scene, git, porcelain, read, write};

/// Polls `future` so many times and drops it; whether it was done by then.
async fn dropped_after<T>(polls: usize, future: impl Future<Output = T> + Send) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let done = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready();
        if done {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// Waits until the operation that was given up is over: it holds a lock, or has an intent.
async fn settled(scene: &Scene) {
    // What was only just given to a worker may not have taken its lock yet.
    tokio::time::sleep(Duration::from_millis(300)).await;
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let intents = std::fs::read_dir(scene.state.join("intents"))
            .unwrap()
            .count();
        let report = scene.backend.doctor(false).await.unwrap();
        if intents == 0 && report.findings.is_empty() {
            return;
        }
    }
    panic!("{:?}", scene.backend.doctor(false).await.unwrap());
}

async fn dirty(scene: &Scene) -> (Workspace, WorkspaceHead) {
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("work.txt"), "work\n");
    (scene.workspace().await, head)
}

/// Proves H55: whenever its future is dropped, an operation is finished or has not begun, and no lock stays.
#[tokio::test]
async fn h55_a_dropped_future_leaves_a_consistent_state() {
    for polls in 0..4 {
        let scene = Scene::new();
        let (workspace, head) = dirty(&scene).await;
        let folder = scene.folder(&head);
        dropped_after(polls, workspace.head("two").create()).await;
        settled(&scene).await;
        let made = workspace.heads().await.unwrap().len() == 2;
        assert_eq!(workspace.head("two").create().await.is_err(), made);
        assert_eq!(made, polls > 0, "work that has begun is finished");

        dropped_after(polls, head.fork("three")).await;
        settled(&scene).await;
        let made = workspace.heads().await.unwrap().len() == 3;
        assert_eq!(head.fork("three").await.is_err(), made);

        dropped_after(polls, head.checkpoint()).await;
        settled(&scene).await;
        assert_eq!(porcelain(&folder), ["?? work.txt"]);
        let first = head.checkpoint().await.unwrap();

        write(&folder.join("work.txt"), "later\n");
        dropped_after(polls, head.restore(&first)).await;
        settled(&scene).await;
        // Nobody can say when a worker comes to it, but it does.
        let restored = || read(&folder.join("work.txt")) == "work\n";
        for _ in 0..250 {
            if restored() || polls == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(restored(), polls > 0);
        settled(&scene).await;
        let kept = head.checkpoints().await.unwrap();
        if polls > 0 {
            let last = kept.last().unwrap();
            assert_eq!(
                git(&folder, &["show", &format!("{}:work.txt", last.revision)]),
                "later"
            );
        }
        head.restore(&first).await.unwrap();

        dropped_after(polls, head.destroy()).await;
        settled(&scene).await;
        let receipt = head.destroy().await.unwrap();
        let kept = receipt.kept_ref.unwrap();
        assert_eq!(
            git(
                &scene.repository.path,
                &["show", &format!("{kept}:work.txt")]
            ),
            "work"
        );
        scene.trash_is_emptied().await;
        settled(&scene).await;
    }
}

/// Waits for what a worker comes to in its own time.
async fn comes_true(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} does not come true");
}

/// Proves H55 for what brings work home.
#[tokio::test]
async fn h55_a_dropped_commit_merge_update_or_archive_is_finished_or_never_was() {
    for polls in 0..4 {
        let scene = Scene::new();
        let project = &scene.repository.path;
        let (workspace, head) = dirty(&scene).await;
        let folder = scene.folder(&head);
        let begun = polls > 0;

        dropped_after(polls, head.merge_into("main")).await;
        settled(&scene).await;
        if begun {
            comes_true("the merge", async || project.join("work.txt").exists()).await;
        }
        settled(&scene).await;
        assert_eq!(project.join("work.txt").exists(), begun);
        assert!(porcelain(project).is_empty());
        assert_eq!(porcelain(&folder), ["?? work.txt"]);
        head.merge_into("main").await.unwrap();
        assert_eq!(git(project, &["show", "main:work.txt"]), "work");

        dropped_after(polls, head.commit(CommitRequest::new("work"))).await;
        settled(&scene).await;
        if begun {
            comes_true("the commit", async || porcelain(&folder).is_empty()).await;
        }
        assert_eq!(porcelain(&folder).is_empty(), begun);
        settled(&scene).await;
        if !begun {
            head.commit(CommitRequest::new("work")).await.unwrap();
        }
        assert_eq!(git(&folder, &["log", "-1", "--format=%s"]), "work");

        write(&project.join("README.md"), "# Theirs\n");
        let tip = scene.repository.commit_all("theirs");
        write(&folder.join("README.md"), "# Mine\n");
        head.commit(CommitRequest::new("mine")).await.unwrap();
        dropped_after(polls, head.update_from("main")).await;
        settled(&scene).await;
        if begun {
            comes_true("the update", async || {
                porcelain(&folder) == ["UU README.md"]
            })
            .await;
        } else {
            assert!(porcelain(&folder).is_empty());
            head.update_from("main").await.unwrap();
        }
        settled(&scene).await;
        assert_eq!(git(&folder, &["rev-parse", "MERGE_HEAD"]), tip);
        assert!(head.status().await.unwrap().conflicted);

        let checkpoint = head.checkpoint().await.unwrap();
        write(&folder.join("later.txt"), "later\n");
        head.checkpoint().await.unwrap();
        dropped_after(polls, head.prune_checkpoints(1)).await;
        if begun {
            comes_true("the pruning", async || {
                head.checkpoints().await.unwrap().len() == 1
            })
            .await;
        }
        settled(&scene).await;
        let kept = head.checkpoints().await.unwrap();
        assert_eq!(kept.contains(&checkpoint), !begun);

        dropped_after(polls, head.archive()).await;
        settled(&scene).await;
        if begun {
            comes_true("the archiving", async || {
                head.status().await.unwrap().archived
            })
            .await;
        }
        assert_eq!(workspace.reopen(&head.binding()).await.is_err(), begun);
        head.archive().await.unwrap();
        assert!(workspace.reopen(&head.binding()).await.is_err());
    }
}
