//! The user's own repository stays as it is.

use everruns_core::ids::SessionId;
use everruns_core::workspace::{CommitRequest, DiffRequest};

use crate::fixture::{Scene, git, snapshot, write};
use crate::status::disturb;

/// H30: byte for byte, our own branches, references and worktree records aside.
#[tokio::test]
async fn h30_the_users_repository_is_byte_identical() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    git(project, &["branch", "other", "HEAD~1"]);
    git(project, &["tag", "v1"]);
    git(
        project,
        &[
            "worktree",
            "add",
            "-q",
            scene.root.path().join("mine").to_str().unwrap(),
            "other",
        ],
    );
    git(project, &["pack-refs", "--all"]);
    disturb(project);
    write(
        &project.join(".git/hooks/post-checkout"),
        "#!/bin/sh\nexit 1\n",
    );
    let before = snapshot(project);
    let records = || git(project, &["worktree", "list"]);
    let mine = records();

    let workspace = scene.workspace().await;
    let head = workspace
        .head("one")
        .from_revision("v1")
        .create()
        .await
        .unwrap();
    head.claim(&SessionId::new("s").unwrap()).await.unwrap();
    let folder = scene.folder(&head);
    write(&folder.join("README.md"), "changed\n");
    head.status().await.unwrap();
    let checkpoint = head.checkpoint().await.unwrap();
    head.diff().await.unwrap();
    let fork = head.fork("fork").await.unwrap();
    write(&folder.join("README.md"), "changed again\n");
    head.restore(&checkpoint).await.unwrap();
    head.plan_restore(&checkpoint).await.unwrap();
    head.patch(DiffRequest::default()).await.unwrap();
    head.commit(CommitRequest::new("work")).await.unwrap();
    head.update_from("main").await.unwrap();
    let own = fork.descriptor().branch.clone().unwrap();
    write(&scene.folder(&fork).join("fork.txt"), "fork\n");
    fork.commit(CommitRequest::new("in the fork"))
        .await
        .unwrap();
    head.merge_into(own).await.unwrap();
    head.checkpoint().await.unwrap();
    head.prune_checkpoints(1).await.unwrap();
    scene.backend.doctor(true).await.unwrap();
    head.archive().await.unwrap();
    workspace.heads().await.unwrap();
    fork.destroy().await.unwrap();
    head.destroy().await.unwrap();
    drop(scene.reopened());

    assert_eq!(snapshot(project), before);
    assert_eq!(records(), mine);
    git(project, &["fsck", "--strict"]);
}
