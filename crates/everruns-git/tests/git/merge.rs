//! Bringing work home.

use everruns_core::workspace::{MergeOutcome, MergeRequest, MergeStrategy, WorkspaceError};

use crate::fixture::{Scene, git, snapshot, write};

fn scene_with_target() -> Scene {
    let scene = Scene::new();
    git(&scene.repository.path, &["branch", "target"]);
    scene
}

#[tokio::test]
async fn a_merge_moves_a_branch_and_nothing_else() {
    let scene = scene_with_target();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("uncommitted.txt"), "work\n");
    let before = git(&scene.folder(&head), &["status", "--porcelain=v2"]);
    let outcome = head.merge_into("target").await.unwrap();
    let MergeOutcome::Merged { revision } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(git(project, &["rev-parse", "target"]), revision);
    assert_eq!(git(project, &["show", "target:uncommitted.txt"]), "work");
    assert_eq!(
        git(project, &["rev-list", "--parents", "-1", "target"])
            .split(' ')
            .count(),
        3
    );
    assert_eq!(
        git(&scene.folder(&head), &["status", "--porcelain=v2"]),
        before
    );
    git(project, &["fsck", "--strict"]);
}

#[tokio::test]
async fn strategies_make_the_commits_they_say() {
    let scene = scene_with_target();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    assert_eq!(
        head.merge_into("target").await.unwrap(),
        MergeOutcome::UpToDate
    );
    write(&folder.join("a.txt"), "a\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "a"]);
    let request = |strategy| MergeRequest {
        branch: "target".to_owned(),
        strategy,
        message: Some("The words\n".to_owned()),
        ..MergeRequest::default()
    };
    head.merge(request(MergeStrategy::FastForward))
        .await
        .unwrap();
    assert_eq!(
        git(project, &["rev-parse", "target"]),
        git(&folder, &["rev-parse", "HEAD"])
    );
    write(&folder.join("b.txt"), "b\n");
    head.merge(request(MergeStrategy::Squash)).await.unwrap();
    assert_eq!(
        git(project, &["log", "-1", "--format=%s %P", "target"]),
        format!("The words {}", git(&folder, &["rev-parse", "HEAD"]))
    );
    assert_eq!(
        head.merge(request(MergeStrategy::Squash)).await.unwrap(),
        MergeOutcome::UpToDate
    );
    assert!(
        head.merge(request(MergeStrategy::FastForward))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn conflicts_are_data_and_change_nothing() {
    let scene = scene_with_target();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("README.md"), "# Ours\n");
    let side = scene.root.path().join("side");
    git(
        project,
        &["worktree", "add", "-q", side.to_str().unwrap(), "target"],
    );
    write(&side.join("README.md"), "# Theirs\n");
    git(&side, &["commit", "-qam", "theirs"]);
    let refused = head.merge_into("target").await.unwrap_err();
    assert!(
        matches!(refused, WorkspaceError::BranchInUse { .. }),
        "{refused}"
    );
    git(project, &["worktree", "remove", side.to_str().unwrap()]);
    let before = snapshot(project);
    let outcome = head.merge_into("target").await.unwrap();
    let MergeOutcome::Conflicts(conflicts) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(conflicts[0].path, "README.md");
    assert_eq!(snapshot(project), before);
}

#[tokio::test]
async fn branches_that_are_none() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    for branch in ["none", "-x", "", "a..b", "x y"] {
        let failure = head.merge_into(branch).await.unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::UnknownRevision { .. }),
            "{branch}: {failure:?}"
        );
    }
    let failure = head.merge_into("main").await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::BranchInUse { .. }),
        "{failure}"
    );
}
