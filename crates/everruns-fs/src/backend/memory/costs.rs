//! What operations of heads cost, counted in parts of the trees that they look at: never in time.

use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{PageRequest, Precondition};
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{
    CommitRequest, DiffRequest, MergeOutcome, UpdateOutcome, Workspace, WorkspaceBackend,
    WorkspaceCheckpoint, WorkspaceHead,
};

use super::MemoryWorkspaceBackend;
use crate::memory::Tree;

/// How many folders the large tree has, and how many files each.
const FOLDERS: usize = 60;
const FILES: usize = 150;
/// The most parts that an operation on three changed files may look at, in all trees that it compares.
const FEW: usize = 30;

/// A workspace whose branch `main` has thousands of files, and a head made from it.
struct Large {
    backend: MemoryWorkspaceBackend,
    workspace: Workspace,
    head: WorkspaceHead,
}

impl Large {
    async fn new() -> Self {
        let backend = MemoryWorkspaceBackend::new();
        let shared: Arc<dyn WorkspaceBackend> = Arc::new(backend.clone());
        let workspace = Workspace::open(shared, "large").await.unwrap();
        let first = workspace.head("first").create().await.unwrap();
        for folder in 0..FOLDERS {
            for file in 0..FILES {
                write(&first, folder, file, "as it was").await;
            }
        }
        let merged = first.merge_into("main").await.unwrap();
        assert!(matches!(merged, MergeOutcome::Merged { .. }));
        let head = workspace.head("work").create().await.unwrap();
        let large = Self {
            backend,
            workspace,
            head,
        };
        large.forget();
        large
    }

    fn tree(&self, head: &WorkspaceHead) -> Tree {
        let mut state = self.backend.shared.state();
        let head = state.head(self.workspace.id(), head.id()).unwrap();
        head.files.tree()
    }

    /// The trees that everything is compared with.
    fn trees(&self) -> Vec<Tree> {
        let mut state = self.backend.shared.state();
        let workspace = state.workspace(self.workspace.id()).unwrap();
        let heads = workspace.heads.iter().map(|head| head.files.tree());
        let named = workspace
            .revisions
            .values()
            .map(|named| named.tree().clone());
        named.chain(heads).collect()
    }

    /// How many parts of all trees were looked at since this was last asked. What they share counts once.
    fn looked(&self) -> usize {
        self.trees().iter().map(Tree::take_looked).sum()
    }

    fn forget(&self) {
        self.looked();
    }

    /// Changes three files, in three folders.
    async fn change_three(&self, head: &WorkspaceHead, text: &str) {
        for folder in [3, 20, 50] {
            write(head, folder, folder, text).await;
        }
        self.forget();
    }
}

async fn write(head: &WorkspaceHead, folder: usize, file: usize, text: &str) {
    let path = WorkspacePath::parse(&format!("{folder}/{file}")).unwrap();
    let text = Bytes::copy_from_slice(text.as_bytes());
    let files = head.file_system();
    files.write(&path, text, Precondition::Any).await.unwrap();
}

/// What the other tests go by: a walk over everything looks at far more parts than they allow.
#[tokio::test]
async fn a_walk_is_seen() {
    let large = Large::new().await;
    let files = large.head.file_system();
    for folder in 0..FOLDERS {
        let path = WorkspacePath::parse(&folder.to_string()).unwrap();
        let page = files.list(&path, PageRequest::default()).await.unwrap();
        assert_eq!(page.entries.len(), FILES);
    }
    let looked = large.looked();
    assert!(looked > 5 * FEW, "{looked} parts");
}

#[tokio::test]
async fn a_checkpoint_looks_at_nothing() {
    let large = Large::new().await;
    let mut kept: Vec<WorkspaceCheckpoint> = Vec::new();
    for changes in [0, 1, 1_000, 1] {
        for change in 0..changes {
            let text = format!("{changes} {}", kept.len());
            write(&large.head, change % FOLDERS, change / FOLDERS, &text).await;
        }
        large.forget();
        kept.push(large.head.checkpoint().await.unwrap());
        // The same state again is found without a look, too.
        let again = large.head.checkpoint().await.unwrap();
        assert_eq!(again.revision, kept.last().unwrap().revision);
        assert_eq!(large.looked(), 0);
    }
    let numbers: Vec<u64> = kept.iter().map(|kept| kept.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
}

#[tokio::test]
async fn heads_begin_and_end_without_a_look_at_files() {
    let large = Large::new().await;
    large.change_three(&large.head, "changed").await;
    let kept = large.head.checkpoint().await.unwrap();
    let fork = large.head.fork("fork").await.unwrap();
    let other = large.head.fork_from("other", &kept).await.unwrap();
    let revision = large.workspace.head("revision");
    revision
        .from_revision(&kept.revision)
        .create()
        .await
        .unwrap();
    other.archive().await.unwrap();
    let receipt = fork.destroy().await.unwrap();
    assert_eq!(receipt.checkpoint.unwrap().revision, kept.revision);
    assert_eq!(large.looked(), 0);
    // Of a destroyed head there is what its receipt names, and nothing else.
    let mut state = large.backend.shared.state();
    let dead = state.head(large.workspace.id(), fork.id()).unwrap();
    for tree in [&dead.base, &dead.lineage.last.tree, &dead.files.tree()] {
        assert_eq!(tree.total_bytes(), 0);
    }
}

#[tokio::test]
async fn status_and_diff_look_at_what_changed() {
    let large = Large::new().await;
    large.change_three(&large.head, "changed").await;
    assert_eq!(large.head.status().await.unwrap().entries.len(), 3);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "status: {looked} parts");
    assert_eq!(large.head.diff().await.unwrap().files.len(), 3);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "diff: {looked} parts");
    let kept = large.head.checkpoint().await.unwrap();
    write(&large.head, 7, 7, "changed").await;
    large.forget();
    let since = large.head.diff_since(&kept).await.unwrap();
    assert_eq!(since.files.len(), 1);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "diff since: {looked} parts");
}

/// Files that were written again as they are, in a tree that shares nothing with the first, are no change.
#[tokio::test]
async fn equal_folders_are_passed_over() {
    let large = Large::new().await;
    for folder in 0..FOLDERS {
        for file in 0..FILES {
            write(&large.head, folder, file, "as it was").await;
        }
    }
    large.forget();
    assert!(!large.head.status().await.unwrap().dirty);
    assert_eq!(large.looked(), 0);
    assert_eq!(large.head.checkpoint().await.unwrap().number, 0);
}

#[tokio::test]
async fn a_restore_looks_at_what_changed() {
    let large = Large::new().await;
    let before = large.head.checkpoint().await.unwrap();
    large.change_three(&large.head, "changed").await;
    let receipt = large.head.restore(&before).await.unwrap();
    assert_eq!(receipt.changed.len(), 3);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "{looked} parts");
}

#[tokio::test]
async fn a_merge_looks_at_what_changed() {
    let large = Large::new().await;
    let other = large.workspace.head("other").create().await.unwrap();
    write(&other, 40, 1, "of the other").await;
    let merged = other.merge_into("main").await.unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { .. }));
    large.change_three(&large.head, "changed").await;
    let merged = large.head.merge_into("main").await.unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { .. }));
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "{looked} parts");
    let after = large.workspace.head("after").create().await.unwrap();
    let bytes = large.tree(&after).total_bytes();
    let plain = (FOLDERS * FILES - 4) * "as it was".len();
    let changed = 3 * "changed".len() + "of the other".len();
    assert_eq!(bytes, (plain + changed) as u64);
}

#[tokio::test]
async fn a_commit_looks_at_what_changed() {
    let large = Large::new().await;
    large.change_three(&large.head, "changed").await;
    let some = CommitRequest {
        paths: vec!["20".to_owned(), "50/50".to_owned()],
        ..CommitRequest::new("some")
    };
    let receipt = large.head.commit(some).await.unwrap();
    assert_eq!(receipt.changed, ["20/20", "50/50"]);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "some: {looked} parts");
    let receipt = large.head.commit(CommitRequest::new("all")).await.unwrap();
    assert_eq!(receipt.changed, ["3/3"]);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "all: {looked} parts");
    assert!(!large.head.status().await.unwrap().dirty);
    large.head.fork("fork").await.unwrap();
    assert_eq!(large.looked(), 0);
}

/// Forward, joined, and beside files that are changed and not committed.
#[tokio::test]
async fn an_update_looks_at_what_changed() {
    let large = Large::new().await;
    let other = large.workspace.head("other").create().await.unwrap();
    for (round, text) in ["forward", "joined", "beside"].into_iter().enumerate() {
        match text {
            "joined" => {
                write(&large.head, 7, 7, text).await;
                large.head.commit(CommitRequest::new(text)).await.unwrap();
            }
            "beside" => write(&large.head, 8, 8, text).await,
            _ => {}
        }
        large.change_three(&other, text).await;
        let merged = other.merge_into("main").await.unwrap();
        assert!(matches!(merged, MergeOutcome::Merged { .. }));
        large.forget();
        let outcome = large.head.update_from("main").await.unwrap();
        assert_ne!(outcome, UpdateOutcome::UpToDate);
        let looked = large.looked();
        // More trees are compared than elsewhere: both sides, what they began with, and the files.
        assert!((1..=2 * FEW).contains(&looked), "{text}: {looked} parts");
        let dirty = large.head.status().await.unwrap().entries.len();
        assert_eq!(dirty, usize::from(round == 2));
    }
}

#[tokio::test]
async fn a_patch_looks_at_what_changed() {
    let large = Large::new().await;
    large.change_three(&large.head, "changed").await;
    let patch = large.head.patch(DiffRequest::default()).await.unwrap();
    assert_eq!(patch.files, 3);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "{looked} parts");
}

/// In a folder of thousands of files, too, only what differs is looked at.
#[tokio::test]
async fn a_large_folder_is_looked_at_in_part() {
    let large = Large::new().await;
    for file in 0..4_000 {
        write(&large.head, 1_000, file, "many").await;
    }
    let before = large.head.checkpoint().await.unwrap();
    write(&large.head, 1_000, 1, "changed").await;
    write(&large.head, 1_000, 2_000, "changed").await;
    large.forget();
    let since = large.head.diff_since(&before).await.unwrap();
    assert_eq!(since.files.len(), 2);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "{looked} parts");
    let receipt = large.head.restore(&before).await.unwrap();
    assert_eq!(receipt.changed.len(), 2);
    let looked = large.looked();
    assert!((1..=FEW).contains(&looked), "{looked} parts");
}
