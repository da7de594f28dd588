//! The written contracts, checked.

use std::sync::Arc;

use everruns_testkit::conformance::{file_system, workspace_backend};

use crate::fixture::{Scene, backend, git};

/// Proves C23 for this backend.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c23_the_backend_keeps_its_contract() {
    workspace_backend::check(|| async {
        let scene = Scene::new();
        let project = &scene.repository.path;
        git(project, &["branch", "target"]);
        let other = scene.root.path().join("other");
        std::fs::create_dir(&other).unwrap();
        git(&other, &["init", "-q"]);
        let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        let state = scene.state.clone();
        workspace_backend::Subject::new(Arc::clone(&scene.backend), text(project))
            .can(workspace_backend::Capabilities {
                revisions: true,
                merges_into: Some("target".to_owned()),
                commits: true,
                patches: true,
                ..workspace_backend::Capabilities::default()
            })
            .also_at(text(&project.join("src")))
            .also_at(text(&project.join(".git")))
            .other_workspace(text(&other))
            .bad_locator(text(&scene.root.path().join("missing")))
            .bad_locator(text(scene.root.path()))
            .restarting(move || {
                let state = state.clone();
                async move { backend(&state) }
            })
            .keeping(scene.root)
    })
    .await;
}

/// H24a and the rest: the file system of a head keeps its contract.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h24a_the_files_of_a_head_keep_their_contract() {
    file_system::check(file_system::Options::default(), || async {
        let scene = Scene::new();
        git(
            &scene.repository.path,
            &["checkout", "-q", "--orphan", "bare"],
        );
        git(&scene.repository.path, &["rm", "-rfq", "."]);
        git(
            &scene.repository.path,
            &["commit", "-q", "--allow-empty", "-m", "nothing"],
        );
        let head = scene.head("one").await;
        file_system::Subject::new(head.file_system()).keeping(scene.root)
    })
    .await;
}
