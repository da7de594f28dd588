//! Many at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use everruns_core::workspace::Workspace;

use crate::fixture::{Scene, git, porcelain};

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
