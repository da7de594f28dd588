//! Going back to a checkpoint.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use everruns_core::workspace::WorkspaceError;

use crate::fixture::{Scene, git, porcelain, read, write};
use crate::status::{conflict, disturb};

#[tokio::test]
async fn restore_brings_back_every_state() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let clean = head.checkpoint().await.unwrap();
    disturb(&folder);
    let status = porcelain(&folder);
    let diff = git(&folder, &["diff", "--binary"]);
    let dirty = head.checkpoint().await.unwrap();

    let receipt = head.restore(&clean).await.unwrap();
    assert_eq!(receipt.before, dirty, "the state before was kept already");
    assert!(porcelain(&folder).is_empty());
    assert_eq!(
        read(&folder.join("ignored/cache")),
        "ignored\n",
        "ignored files stay"
    );
    assert_eq!(read(&folder.join("noise.log")), "ignored\n");
    assert_eq!(read(&folder.join("README.md")), "# Project\n");

    head.restore(&dirty).await.unwrap();
    assert_eq!(porcelain(&folder), status);
    assert_eq!(git(&folder, &["diff", "--binary"]), diff);
}

#[tokio::test]
async fn restore_writes_only_what_differs() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let first = head.checkpoint().await.unwrap();
    write(&folder.join("README.md"), "changed\n");
    let inode = |name: &str| std::fs::symlink_metadata(folder.join(name)).unwrap().ino();
    let untouched = inode("src/lib.rs");
    let receipt = head.restore(&first).await.unwrap();
    assert_eq!(receipt.changed, ["README.md"]);
    assert_eq!(inode("src/lib.rs"), untouched);
    assert!(porcelain(&folder).is_empty());
}

/// When each file and folder was last changed, and which it is; Git's own file apart.
fn times(folder: &Path) -> BTreeMap<PathBuf, (i64, i64, u64)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                waiting.push(path.clone());
            }
            found.insert(path, (meta.mtime(), meta.mtime_nsec(), meta.ino()));
        }
    }
    found
}

/// Files that don't differ keep their times, so that no build tool takes them for changed; ignored ones as well.
#[tokio::test]
async fn h63_restore_keeps_the_times_of_what_does_not_differ() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "draft\n");
    write(&folder.join("src/staged.rs"), "staged\n");
    git(&folder, &["add", "src/staged.rs"]);
    write(&folder.join("ignored/cache"), "cache\n");
    let first = head.checkpoint().await.unwrap();
    // Times that no clock gives by itself now.
    for path in ["draft.txt", "src/lib.rs", "src/staged.rs", "ignored/cache"] {
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).open(folder.join(path)).unwrap();
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(1_000_000, 1);
        file.set_modified(past).unwrap();
    }
    let before = times(&folder);
    write(&folder.join("README.md"), "changed\n");
    write(&folder.join("tools/new.sh"), "new\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    git(&folder, &["commit", "-qm", "what was staged"]);
    let receipt = head.restore(&first).await.unwrap();
    let changed = ["README.md", "src/two.rs", "tools/new.sh"];
    assert_eq!(receipt.changed, changed);
    let mut after = times(&folder);
    let mut expected = before.clone();
    // A folder's own time tells of the files that came and went in it.
    for path in ["README.md", "src/two.rs", "src", "tools"] {
        after.remove(&folder.join(path)).unwrap();
        expected.remove(&folder.join(path)).unwrap();
    }
    assert_eq!(after, expected);
    assert_eq!(head.restore(&first).await.unwrap().changed, [""; 0]);
    let again: BTreeMap<_, _> = times(&folder);
    assert_eq!(again[&folder.join("README.md")].2, {
        let meta = std::fs::symlink_metadata(folder.join("README.md")).unwrap();
        meta.ino()
    });
}

#[tokio::test]
async fn restore_takes_the_branch_back_and_keeps_what_was_committed() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "draft\n");
    let first = head.checkpoint().await.unwrap();
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "later"]);
    let later = git(&folder, &["rev-parse", "HEAD"]);
    let receipt = head.restore(&first).await.unwrap();
    assert_eq!(receipt.before.revision, later);
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), head.base());
    assert_eq!(porcelain(&folder), ["?? draft.txt"]);
    head.restore(&receipt.before).await.unwrap();
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), later);
    assert!(porcelain(&folder).is_empty());
}

#[tokio::test]
async fn restore_of_conflicts_folders_and_files() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let clean = head.checkpoint().await.unwrap();
    std::fs::remove_file(folder.join("README.md")).unwrap();
    write(&folder.join("README.md/inside"), "a folder now\n");
    std::fs::remove_dir_all(folder.join("src")).unwrap();
    write(&folder.join("src"), "a file now\n");
    let swapped = head.checkpoint().await.unwrap();
    let status = porcelain(&folder);
    head.restore(&clean).await.unwrap();
    assert!(porcelain(&folder).is_empty());
    head.restore(&swapped).await.unwrap();
    assert_eq!(porcelain(&folder), status);
    head.restore(&clean).await.unwrap();

    conflict(&folder);
    let status = porcelain(&folder);
    let conflicted = head.checkpoint().await.unwrap();
    head.restore(&clean).await.unwrap();
    assert!(porcelain(&folder).is_empty());
    head.restore(&conflicted).await.unwrap();
    assert_eq!(porcelain(&folder), status);
}

/// Ignored files are never written over: the restore is refused before it changes anything.
#[tokio::test]
async fn restore_never_writes_over_ignored_files() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("trace.txt"), "captured\n");
    write(&folder.join("store/a.txt"), "captured\n");
    let first = head.checkpoint().await.unwrap();
    std::fs::remove_file(folder.join("trace.txt")).unwrap();
    std::fs::remove_dir_all(folder.join("store")).unwrap();
    write(&folder.join(".gitignore"), "trace.txt\nstore\n");
    write(&folder.join("trace.txt"), "ignored\n");
    write(&folder.join("store"), "ignored\n");
    let failure = head.restore(&first).await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::HeadUnavailable { .. }),
        "{failure}"
    );
    assert_eq!(read(&folder.join("trace.txt")), "ignored\n");
    assert_eq!(read(&folder.join("store")), "ignored\n");
    assert_eq!(read(&folder.join(".gitignore")), "trace.txt\nstore\n");
}

/// A file that the index of the checkpoint knows, and that was deleted in it, is not there as an ignored file instead.
#[tokio::test]
async fn restore_is_refused_where_an_ignored_file_is_to_be_gone() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    let first = head.checkpoint().await.unwrap();
    git(&folder, &["rm", "-q", "--cached", "src/two.rs"]);
    write(&folder.join(".gitignore"), "two.rs\n");
    write(&folder.join("src/two.rs"), "ignored\n");
    let plan = head.plan_restore(&first).await.unwrap();
    assert_eq!(plan.blocked, ["src/two.rs"]);
    head.restore(&first).await.unwrap_err();
    assert_eq!(read(&folder.join("src/two.rs")), "ignored\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    head.restore(&first).await.unwrap();
    assert_eq!(porcelain(&folder), [" D src/two.rs"]);
}

#[tokio::test]
async fn restore_takes_checkpoints_of_the_same_workspace_only() {
    let scene = Scene::new();
    let (one, two) = (scene.head("one").await, scene.head("two").await);
    write(&scene.folder(&one).join("a.txt"), "a\n");
    let checkpoint = one.checkpoint().await.unwrap();
    two.restore(&checkpoint).await.unwrap();
    assert_eq!(read(&scene.folder(&two).join("a.txt")), "a\n");
    let mut unknown = checkpoint.clone();
    unknown.revision = one.base().to_owned();
    assert!(matches!(
        two.restore(&unknown).await,
        Err(WorkspaceError::CheckpointNotFound { .. })
    ));
    unknown.revision = "--all".to_owned();
    assert!(matches!(
        two.restore(&unknown).await,
        Err(WorkspaceError::CheckpointNotFound { .. })
    ));
}

/// A plan says what a restore does, and does nothing.
#[tokio::test]
async fn a_planned_restore_is_what_a_restore_does() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("store/a.txt"), "captured\n");
    let first = head.checkpoint().await.unwrap();
    std::fs::remove_dir_all(folder.join("store")).unwrap();
    git(&folder, &["commit", "--allow-empty", "-qm", "later"]);
    write(&folder.join("README.md"), "changed\n");
    write(&folder.join("new.txt"), "new\n");
    let objects = || git(&folder, &["count-objects", "-v"]);
    let before = (porcelain(&folder), objects());
    let plan = head.plan_restore(&first).await.unwrap();
    assert_eq!(
        (porcelain(&folder), objects()),
        before,
        "nothing is changed"
    );
    let steps: Vec<_> = plan
        .steps
        .iter()
        .map(|step| (step.path.as_str(), step.removes))
        .collect();
    assert_eq!(
        steps,
        [
            ("README.md", false),
            ("new.txt", true),
            ("store/a.txt", false)
        ]
    );
    assert_eq!(plan.branch_to.as_deref(), Some(head.base()));
    assert!(plan.blocked.is_empty());

    write(&folder.join(".gitignore"), "store\n*.log\nignored/\n");
    write(&folder.join("store"), "ignored\n");
    let plan = head.plan_restore(&first).await.unwrap();
    assert_eq!(plan.blocked, ["store/a.txt"]);
    assert!(head.restore(&first).await.is_err());
    std::fs::remove_file(folder.join("store")).unwrap();
    let plan = head.plan_restore(&first).await.unwrap();
    let receipt = head.restore(&first).await.unwrap();
    let steps: Vec<_> = plan.steps.into_iter().map(|step| step.path).collect();
    assert_eq!(receipt.changed, steps);
}
