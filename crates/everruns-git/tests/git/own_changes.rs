//! Checkpoints of which the caller says where alone something changed.

use std::collections::BTreeSet;
use std::path::Path;

use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{Workspace, WorkspaceCheckpoint};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};

use crate::fixture::{Scene, git, write};
use crate::generated::{Edit, PATHS, edit, perform};

fn paths(all: &[&str]) -> Vec<WorkspacePath> {
    all.iter()
        .map(|path| WorkspacePath::parse(path).unwrap())
        .collect()
}

/// The paths at which `edit` changes files itself; what Git does to the index is no file's change.
fn changed(edit: &Edit) -> Vec<WorkspacePath> {
    match edit {
        Edit::Write(path, _)
        | Edit::Delete(path)
        | Edit::Link(path, _)
        | Edit::Executable(path) => paths(&[PATHS[*path]]),
        Edit::Move(from, to) => paths(&[PATHS[*from], PATHS[*to]]),
        Edit::Ignore(_) => paths(&[".gitignore"]),
        Edit::Stage(_)
        | Edit::StageAll
        | Edit::Unstage(_)
        | Edit::Announce(_)
        | Edit::Forget(_)
        | Edit::Commit => Vec::new(),
    }
}

/// How many paths of the index or the files differ from the commit, as Git tells it.
fn count_changed(folder: &Path, kept: &WorkspaceCheckpoint) -> u64 {
    if kept.revision == git(folder, &["rev-parse", "HEAD"]).trim() {
        return 0;
    }
    let state = &kept.revision;
    let commit = format!("{state}^1");
    let index = format!("{state}^2");
    let paths: BTreeSet<String> = [state, &index]
        .into_iter()
        .flat_map(|tree| {
            let shown = git(
                folder,
                &["diff", "--name-only", "--no-renames", &commit, tree],
            );
            shown.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    paths.len() as u64
}

/// After each edit, what is kept by paths is what another process finds by looking at everything.
async fn compare(edits: &[Edit]) {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let other = Workspace::open(scene.reopened(), scene.repository.path.to_str().unwrap())
        .await
        .unwrap();
    let other = other.reopen(&head.binding()).await.unwrap();
    head.checkpoint().await.unwrap();
    for edit in edits {
        perform(&folder, edit);
        let kept = head.checkpoint_paths(None, &changed(edit)).await.unwrap();
        let whole = other.checkpoint().await.unwrap();
        assert_eq!(kept.revision, whole.revision, "after {edit:?}");
        assert_eq!(
            kept.changed_paths,
            Some(count_changed(&folder, &kept)),
            "after {edit:?}"
        );
    }
}

#[test]
fn generated_changes_at_known_paths_are_kept_as_a_look_at_everything_finds_them() {
    let seeds = FileFailurePersistence::Direct("tests/git/own_changes.seeds");
    let config = Config {
        cases: std::env::var("PROPTEST_CASES").map_or(16, |cases| cases.parse().unwrap()),
        failure_persistence: Some(Box::new(seeds)),
        max_shrink_iters: 60,
        ..Config::default()
    };
    proptest!(config, |(edits in prop::collection::vec(edit(), 1..14))| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(compare(&edits));
    });
}

/// One step between two checkpoints.
#[derive(Debug, Clone)]
enum Step {
    Edit(Edit),
    /// The paths that changed since the last checkpoint are named.
    KeepPaths,
    KeepAll,
    /// Nobody has used the head for a while.
    Rest,
    /// All but the latest checkpoints go, and whatever nothing leads to any more.
    Clean,
}

/// What was kept before is taken to be there; what Git may remove is not.
async fn keep_and_clean(steps: &[Step]) {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let mut since = Vec::new();
    for step in steps {
        match step {
            Step::Edit(edit) => {
                perform(&folder, edit);
                since.extend(changed(edit));
                continue;
            }
            Step::KeepPaths => {
                head.checkpoint_paths(None, &since).await.unwrap();
            }
            Step::KeepAll => {
                head.checkpoint().await.unwrap();
            }
            Step::Rest => {
                head.drop_caches();
                continue;
            }
            Step::Clean => {
                head.prune_checkpoints(1).await.unwrap();
                git(&folder, &["reflog", "expire", "--expire=now", "--all"]);
                git(&folder, &["repack", "-adq"]);
                git(&folder, &["prune", "--expire=now"]);
                continue;
            }
        }
        since.clear();
        // Fails where an object is missing that a reference leads to.
        git(&folder, &["rev-list", "--quiet", "--objects", "--all"]);
    }
    git(&folder, &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn generated_checkpoints_are_whole_whatever_git_removes_between_them() {
    let seeds = FileFailurePersistence::Direct("tests/git/own_changes.seeds");
    let config = Config {
        cases: std::env::var("PROPTEST_CASES").map_or(12, |cases| cases.parse().unwrap()),
        failure_persistence: Some(Box::new(seeds)),
        max_shrink_iters: 60,
        ..Config::default()
    };
    let step = prop_oneof![
        6 => edit().prop_map(Step::Edit),
        3 => Just(Step::KeepPaths),
        3 => Just(Step::KeepAll),
        2 => Just(Step::Clean),
        1 => Just(Step::Rest),
    ];
    proptest!(config, |(steps in prop::collection::vec(step, 4..40))| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(keep_and_clean(&steps));
    });
}

/// The caller's word is taken: that is why it costs what changed, and not what there is.
#[tokio::test]
async fn only_the_paths_are_looked_at_when_nothing_else_can_be_seen_to_have_changed() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let first = head.checkpoint().await.unwrap();
    write(&folder.join("README.md"), "by the caller\n");
    write(&folder.join("src/lib.rs"), "by somebody else\n");
    let kept = head
        .checkpoint_paths(Some("mine"), &paths(&["README.md"]))
        .await
        .unwrap();
    assert_eq!(kept.label.as_deref(), Some("mine"));
    let names = |from: &str, to: &str| git(&folder, &["diff", "--name-only", from, to]);
    assert_eq!(names(&first.revision, &kept.revision).trim(), "README.md");
    let whole = head.checkpoint().await.unwrap();
    assert_eq!(names(&kept.revision, &whole.revision).trim(), "src/lib.rs");
}

/// An index, a commit or a restore of somebody else makes everything be looked at.
#[tokio::test]
async fn what_can_be_seen_to_have_changed_is_looked_at_nevertheless() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let first = head.checkpoint().await.unwrap();
    write(&folder.join("src/lib.rs"), "by somebody else\n");
    git(&folder, &["add", "src/lib.rs"]);
    let staged = head.checkpoint_paths(None, &[]).await.unwrap();
    assert_ne!(staged.revision, first.revision);
    git(&folder, &["commit", "-qm", "by somebody else"]);
    let committed = head.checkpoint_paths(None, &[]).await.unwrap();
    assert_eq!(
        committed.revision,
        git(&folder, &["rev-parse", "HEAD"]).trim()
    );

    let other = Workspace::open(scene.reopened(), scene.repository.path.to_str().unwrap())
        .await
        .unwrap();
    let other = other.reopen(&head.binding()).await.unwrap();
    other.restore(&staged).await.unwrap();
    let restored = head.checkpoint_paths(None, &[]).await.unwrap();
    assert_eq!(
        restored.revision,
        other.checkpoint().await.unwrap().revision
    );
}

/// Ignored files stay out, and a repository inside is not taken for a folder.
#[tokio::test]
async fn h23_what_is_never_kept_is_not_kept_because_it_was_named() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join(".gitignore"), "*.log\n/target/\n");
    std::fs::create_dir(folder.join("inner")).unwrap();
    git(&folder.join("inner"), &["init", "-q"]);
    let before = head.checkpoint().await.unwrap();
    write(&folder.join("noise.log"), "noise\n");
    write(&folder.join("target/debug/x"), "built\n");
    let kept = head
        .checkpoint_paths(None, &paths(&["noise.log", "target/debug/x"]))
        .await
        .unwrap();
    assert_eq!(kept.revision, before.revision);
    write(&folder.join("inner/file"), "not ours\n");
    let kept = head
        .checkpoint_paths(None, &paths(&["inner/file"]))
        .await
        .unwrap();
    assert_eq!(kept.uncaptured.len(), 1, "{:?}", kept.uncaptured);
}

/// A path that was announced and is gone differs from the commit in no tree.
#[tokio::test]
async fn an_announced_file_that_is_gone_is_no_changed_path() {
    compare(&[Edit::Write(6, 0), Edit::Announce(6), Edit::Delete(6)]).await;
}

/// What a checkpoint only reads it never writes: not under the name of what it stands for, nor beside what is there.
#[tokio::test]
async fn h30_what_is_only_read_is_not_written() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let commit = git(&folder, &["rev-parse", "HEAD"]).trim().to_owned();
    let before = git(&folder, &["cat-file", "commit", &commit]);
    git(&folder, &["repack", "-adq"]);
    let (first, rest) = commit.split_at(2);
    let objects = scene.repository.path.join(".git/objects");
    let loose = objects.join(first).join(rest);
    for round in 0..4 {
        write(&folder.join("README.md"), &format!("{round}\n"));
        head.checkpoint().await.unwrap();
        write(&folder.join("README.md"), &format!("{round}, by path\n"));
        head.checkpoint_paths(None, &paths(&["README.md"]))
            .await
            .unwrap();
        assert!(
            !loose.exists(),
            "a commit that is there is not stored again"
        );
    }
    // Another commit stands for the one that is checked out.
    let tree = git(&folder, &["rev-parse", "HEAD^{tree}"]);
    let other = git(&folder, &["commit-tree", tree.trim(), "-m", "another"]);
    git(&folder, &["replace", &commit, other.trim()]);
    for round in 0..4 {
        write(&folder.join("README.md"), &format!("{round}, replaced\n"));
        head.checkpoint().await.unwrap();
        write(&folder.join("README.md"), &format!("{round}, by path\n"));
        head.checkpoint_paths(None, &paths(&["README.md"]))
            .await
            .unwrap();
    }
    git(&folder, &["replace", "-d", &commit]);
    git(&folder, &["fsck", "--strict"]);
    assert!(!loose.exists());
    assert_eq!(git(&folder, &["cat-file", "commit", &commit]), before);
}

/// What a head keeps of the last checkpoint is seen by what it does not look at; once it has let go of that, it looks at
/// everything.
#[tokio::test]
async fn a_head_that_nobody_uses_keeps_nothing_of_the_last_checkpoint() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    head.checkpoint().await.unwrap();
    write(&folder.join("unnamed.txt"), "unnamed\n");
    let named = paths(&["named.txt"]);
    write(&folder.join("named.txt"), "named\n");
    let kept = head.checkpoint_paths(None, &named).await.unwrap();
    let unnamed = |kept: &WorkspaceCheckpoint| {
        let listed = git(&folder, &["ls-tree", "--name-only", &kept.revision]);
        listed.lines().any(|name| name == "unnamed.txt")
    };
    assert!(!unnamed(&kept), "the caller vouched for it");
    head.drop_caches();
    let kept = head.checkpoint_paths(None, &named).await.unwrap();
    assert!(unnamed(&kept));
}
