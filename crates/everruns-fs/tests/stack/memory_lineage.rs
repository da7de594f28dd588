//! What heads in memory merge that are made from a state of another head, which that had more than once.

use std::sync::Arc;

use everruns_core::file_system::{
    FileSystemError, Precondition, Removal, Replace, SessionFileSystemExt as _,
};
use everruns_core::workspace::{
    MergeOutcome, MergeRequest, MergeStrategy, Workspace, WorkspaceBackend, WorkspaceCheckpoint,
    WorkspaceError, WorkspaceHead,
};
use everruns_fs::MemoryWorkspaceBackend;

use crate::support::{names, path, text};

async fn workspace() -> Workspace {
    let backend: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
    Workspace::open(backend, "project").await.unwrap()
}

async fn create(workspace: &Workspace, name: &str) -> WorkspaceHead {
    workspace.head(name).create().await.unwrap()
}

async fn put(head: &WorkspaceHead, at: &str, content: &str) {
    let files = head.file_system();
    files.write_all(at, content.to_owned()).await.unwrap();
}

async fn remove(head: &WorkspaceHead, at: &str) {
    let files = head.file_system();
    files
        .remove(&path(at), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
}

async fn merge(head: &WorkspaceHead) {
    let outcome = head.merge_into("main").await.unwrap();
    let is_merged = matches!(outcome, MergeOutcome::Merged { .. });
    assert!(is_merged, "{} gave {outcome:?}", head.name());
}

async fn merges_nothing(head: &WorkspaceHead) {
    let outcome = head.merge_into("main").await.unwrap();
    assert_eq!(outcome, MergeOutcome::UpToDate, "{}", head.name());
}

/// What the branch has, looked at by a head of this name.
async fn main_has(workspace: &Workspace, look: &str) -> Vec<String> {
    let head = create(workspace, look).await;
    names(head.file_system().as_ref(), ".").await
}

/// A head that added `x` and merged it into a branch that had moved, so that the branch has other files than the head; then
/// somebody else deleted `x` there. The checkpoint is of before the merge.
async fn merged_and_deleted(workspace: &Workspace) -> (WorkspaceHead, WorkspaceCheckpoint) {
    let head = create(workspace, "work").await;
    put(&head, "x", "1").await;
    let before = head.checkpoint().await.unwrap();
    let other = create(workspace, "other").await;
    put(&other, "theirs", "1").await;
    merge(&other).await;
    merge(&head).await;
    let third = create(workspace, "third").await;
    remove(&third, "x").await;
    merge(&third).await;
    (head, before)
}

#[tokio::test]
async fn a_state_that_was_merged_brings_nothing_back() {
    let workspace = workspace().await;
    let (head, before) = merged_and_deleted(&workspace).await;
    let after = head.checkpoint().await.unwrap();
    assert_eq!(after.revision, before.revision);
    for (name, kept) in [("of before", before), ("of after", after)] {
        let fork = head.fork_from(name, &kept).await.unwrap();
        merges_nothing(&fork).await;
        put(&fork, name, "new").await;
        merge(&fork).await;
    }
    let expected = ["of after", "of before", "theirs"];
    assert_eq!(main_has(&workspace, "look").await, expected);
}

#[tokio::test]
async fn what_destroying_kept_brings_nothing_back() {
    let workspace = workspace().await;
    let (head, before) = merged_and_deleted(&workspace).await;
    // Another head comes to the same state and has merged nothing of it.
    let same = create(&workspace, "same").await;
    remove(&same, "theirs").await;
    put(&same, "x", "1").await;
    let receipt = head.destroy().await.unwrap();
    let of_same = same.destroy().await.unwrap();
    let kept = receipt.checkpoint.unwrap();
    assert_eq!(kept.revision, before.revision);
    assert_eq!(kept.revision, of_same.checkpoint.unwrap().revision);

    let by_name = workspace.head("by name");
    let by_name = by_name.from_revision(receipt.kept_ref.unwrap());
    let by_name = by_name.create().await.unwrap();
    let later = create(&workspace, "later").await;
    let by_checkpoint = later.fork_from("by checkpoint", &kept).await.unwrap();
    for late in [by_name, by_checkpoint] {
        merges_nothing(&late).await;
        put(&late, late.name(), "new").await;
        merge(&late).await;
    }
    let expected = ["by checkpoint", "by name", "theirs"];
    assert_eq!(main_has(&workspace, "look").await, expected);
    // What the other one kept is its own work still.
    let again = workspace.head("again");
    let again = again.from_revision(of_same.kept_ref.unwrap());
    merge(&again.create().await.unwrap()).await;
    let expected = ["by checkpoint", "by name", "x"];
    assert_eq!(main_has(&workspace, "look again").await, expected);
}

/// The state is that which the head was made from, and yet there is something to merge.
#[tokio::test]
async fn a_deletion_of_what_was_merged_is_not_lost() {
    let workspace = workspace().await;
    for (round, name) in ["fork", "checkpoint", "name", "receipt"]
        .into_iter()
        .enumerate()
    {
        let head = create(&workspace, &format!("work {round}")).await;
        let first = head.checkpoint().await.unwrap();
        assert_eq!(first.number, 0);
        put(&head, "x", "1").await;
        merge(&head).await;
        remove(&head, "x").await;
        let kept = head.checkpoint().await.unwrap();
        assert_eq!((kept.number, &kept.revision), (1, &first.revision));
        assert!(!kept.uncommitted, "no file differs from the base");
        let late = match name {
            "fork" => head.fork(name).await.unwrap(),
            "checkpoint" => head.fork_from(name, &kept).await.unwrap(),
            "name" => {
                let receipt = head.destroy().await.unwrap();
                let builder = workspace.head(name);
                let builder = builder.from_revision(receipt.kept_ref.unwrap());
                builder.create().await.unwrap()
            }
            _ => {
                let receipt = head.destroy().await.unwrap();
                let other = create(&workspace, "other").await;
                let kept = receipt.checkpoint.unwrap();
                other.fork_from(name, &kept).await.unwrap()
            }
        };
        assert_eq!(
            main_has(&workspace, &format!("before {round}")).await,
            ["x"]
        );
        merge(&late).await;
        let after = main_has(&workspace, &format!("after {round}")).await;
        assert!(after.is_empty(), "{name}: {after:?}");
    }
}

/// A head that has merged the deletion, too, is as it began, and leaves nothing.
#[tokio::test]
async fn a_head_that_took_everything_back_leaves_nothing() {
    let workspace = workspace().await;
    let head = create(&workspace, "work").await;
    put(&head, "x", "1").await;
    merge(&head).await;
    remove(&head, "x").await;
    merge(&head).await;
    assert_eq!(head.checkpoint().await.unwrap().number, 0);
    let receipt = head.destroy().await.unwrap();
    assert_eq!((receipt.kept_ref, receipt.checkpoint), (None, None));
}

/// What a branch had is a beginning of its own, whoever came to the same state by other ways.
#[tokio::test]
async fn a_state_of_a_branch_is_where_its_heads_begin() {
    let workspace = workspace().await;
    let first = create(&workspace, "first").await;
    put(&first, "x", "1").await;
    let outcome = first.merge_into("main").await.unwrap();
    let MergeOutcome::Merged { revision } = outcome else {
        panic!("the merge gave {outcome:?}")
    };
    put(&first, "y", "1").await;
    merge(&first).await;
    remove(&first, "y").await;
    let kept = first.checkpoint().await.unwrap();
    assert_eq!(kept.revision, revision);
    let builder = workspace.head("old main").from_revision(&revision);
    merges_nothing(&builder.create().await.unwrap()).await;
    assert_eq!(main_has(&workspace, "look").await, ["x", "y"]);
    merge(&first.fork_from("fork", &kept).await.unwrap()).await;
    assert_eq!(main_has(&workspace, "look again").await, ["x"]);
}

/// What the branch has by another head is merged: later changes start from there.
#[tokio::test]
async fn being_up_to_date_moves_where_merges_start() {
    for (word, expected) in [("0", "0"), ("2", "2")] {
        let workspace = workspace().await;
        let first = create(&workspace, "first").await;
        put(&first, "f", "0").await;
        merge(&first).await;
        let head = create(&workspace, "work").await;
        put(&head, "f", "1").await;
        let kept = head.checkpoint().await.unwrap();
        let other = create(&workspace, "other").await;
        put(&other, "f", "1").await;
        merge(&other).await;
        merges_nothing(&head).await;
        let fork = head.fork_from("fork", &kept).await.unwrap();
        for late in [head, fork] {
            put(&late, "f", word).await;
            late.merge_into("main").await.unwrap();
            let after = create(&workspace, &format!("after {}", late.name())).await;
            let files = after.file_system();
            assert_eq!(text(files.as_ref(), "f").await.unwrap(), expected);
        }
    }
}

#[tokio::test]
async fn folders_without_files_are_no_work_to_merge() {
    let workspace = workspace().await;
    let request = || MergeRequest {
        branch: "main".to_owned(),
        strategy: MergeStrategy::FastForward,
        ..MergeRequest::default()
    };
    let head = create(&workspace, "work").await;
    let files = head.file_system();
    files.create_dir(&path("tmp/deep")).await.unwrap();
    assert!(!head.status().await.unwrap().dirty);
    assert!(!head.diff().await.unwrap().changed);
    let kept = head.checkpoint().await.unwrap();
    assert!(!kept.uncommitted);
    merges_nothing(&head).await;
    for name in ["a", "b"] {
        put(&head, name, "1").await;
        assert!(head.checkpoint().await.unwrap().uncommitted);
        let outcome = head.merge(request()).await.unwrap();
        assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{name}");
    }
    // The branch has files alone, and loses a folder with its last one, which the head still has.
    assert_eq!(main_has(&workspace, "look").await, ["a", "b"]);
    put(&head, "tmp/file", "1").await;
    head.merge(request()).await.unwrap();
    remove(&head, "tmp/file").await;
    head.merge(request()).await.unwrap();
    assert_eq!(main_has(&workspace, "again").await, ["a", "b"]);
    assert_eq!(names(files.as_ref(), ".").await, ["a", "b", "tmp"]);
    // The head's own states have them.
    remove(&head, "tmp").await;
    let receipt = head.restore(&kept).await.unwrap();
    assert_eq!(receipt.changed, ["a", "b"]);
    assert_eq!(names(files.as_ref(), "tmp").await, ["deep"]);
    let left = head.destroy().await.unwrap();
    let again = workspace.head("left").from_revision(left.kept_ref.unwrap());
    let again = again.create().await.unwrap();
    assert_eq!(names(again.file_system().as_ref(), "tmp").await, ["deep"]);
    assert!(!again.status().await.unwrap().dirty);
}

/// Nothing that a head has gets out of the sight of `status` and merges by a move.
#[tokio::test]
async fn what_a_head_has_is_seen_after_any_move() {
    let workspace = workspace().await;
    let head = create(&workspace, "work").await;
    let deep = vec!["deep"; 200].join("/");
    put(&head, &format!("one/{deep}"), "1").await;
    put(&head, &format!("two/{deep}"), "1").await;
    let files = head.file_system();
    let (from, to) = (
        path("one"),
        path(&format!("two/{}/one", vec!["deep"; 199].join("/"))),
    );
    let moved = files.rename(&from, &to, Replace::Never);
    assert!(matches!(moved.await, Err(FileSystemError::Path(_))));
    assert_eq!(head.status().await.unwrap().entries.len(), 2);
    merge(&head).await;
    assert_eq!(main_has(&workspace, "look").await, ["one", "two"]);
}

/// What only destroyed heads came from is forgotten, and what their receipts name is not.
#[tokio::test]
async fn what_dead_heads_came_from_is_forgotten() {
    let workspace = workspace().await;
    let head = create(&workspace, "work").await;
    let mut all = Vec::new();
    for content in ["1", "2", "3", "4", "5"] {
        put(&head, "file", content).await;
        all.push(head.checkpoint().await.unwrap());
    }
    let fork = head.fork_from("fork", &all[0]).await.unwrap();
    let revision = workspace.head("revision").from_revision(&all[1].revision);
    let revision = revision.create().await.unwrap();
    let alive = head.fork_from("alive", &all[2]).await.unwrap();
    let doomed = head.fork_from("doomed", &all[4]).await.unwrap();
    put(&doomed, "file", "6").await;
    let mine = doomed.checkpoint().await.unwrap();
    put(&doomed, "file", "7").await;

    let first = head.prune_checkpoints(1).await.unwrap();
    assert_eq!(first.removed, [all[1].clone(), all[3].clone()]);
    // A living head is made from this one.
    assert_eq!(alive.plan_restore(&all[1]).await.unwrap().steps.len(), 1);

    for dead in [&fork, &revision, &doomed] {
        put(dead, "file", &format!("last of {}", dead.name())).await;
    }
    let receipts = [
        fork.destroy().await.unwrap(),
        revision.destroy().await.unwrap(),
        doomed.destroy().await.unwrap(),
    ];
    let second = head.prune_checkpoints(1).await.unwrap();
    assert_eq!(second.removed, [all[0].clone()]);
    for gone in [&all[0], &all[1], &all[3]] {
        assert!(matches!(
            alive.plan_restore(gone).await,
            Err(WorkspaceError::CheckpointNotFound { .. })
        ));
    }
    // What is left of the dead can still be had.
    for (number, receipt) in receipts.into_iter().enumerate() {
        let again = workspace.head(format!("again {number}"));
        let again = again.from_revision(receipt.kept_ref.unwrap());
        let again = again.create().await.unwrap();
        let content = text(again.file_system().as_ref(), "file").await.unwrap();
        assert!(content.starts_with("last of "), "{content}");
    }
    let of_dead = alive.fork_from("of dead", &mine).await.unwrap();
    assert_eq!(
        text(of_dead.file_system().as_ref(), "file").await.unwrap(),
        "6"
    );
    let entries = of_dead.status().await.unwrap().entries;
    assert_eq!(entries.len(), 1);
}
