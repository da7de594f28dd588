//! A state folder on a disk that ignores case.

use everruns_core::workspace::Workspace;

use crate::fixture::{Repository, backend, git, write};
use crate::folding_disk::FoldingDisk;

/// Proves H43: files that such a disk cannot tell apart are named, and no head is left.
#[tokio::test]
async fn h43_files_that_collide_by_case_are_named() {
    let Some(disk) = FoldingDisk::mount() else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let repository = Repository::small(&root.path().join("project"));
    write(&repository.path.join("twin.txt"), "one\n");
    write(&repository.path.join("TWIN.txt"), "two\n");
    repository.commit_all("twins");
    let backend = backend(&disk.head().join("state"));
    let workspace = Workspace::open(backend, repository.path.to_string_lossy())
        .await
        .unwrap();
    let refused = workspace
        .head("one")
        .create()
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.to_lowercase().contains("twin.txt"), "{refused}");
    assert!(workspace.heads().await.unwrap().is_empty());
    assert_eq!(
        git(&repository.path, &["branch", "--list", "everruns/*"]),
        ""
    );
    git(&repository.path, &["rm", "-q", "TWIN.txt"]);
    git(&repository.path, &["commit", "-qm", "one"]);
    workspace.head("one").create().await.unwrap();
}
