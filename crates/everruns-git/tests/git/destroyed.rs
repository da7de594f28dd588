//! What would be lost with a head's folder or its worktree record, and is not.

use std::path::{Path, PathBuf};

use everruns_core::failpoint;
use everruns_core::workspace::WorkspaceHead;

use crate::fixture::{Repository, Scene, git, porcelain, read, snapshot, try_git, write};

fn record(folder: &Path) -> PathBuf {
    git(folder, &["rev-parse", "--absolute-git-dir"]).into()
}

/// Steps of a destruction at which the folder is still where somebody writes into it, or just moved away.
const BEFORE_THE_LOOK: [&str; 3] = [
    "git.destroy.after-preparation",
    "git.destroy.after-intent",
    "git.destroy.after-aside",
];

/// Proves C12 for what is written while the head is destroyed.
#[tokio::test]
async fn c12_what_is_written_during_a_destruction_is_kept() {
    for point in BEFORE_THE_LOOK {
        let scene = Scene::new();
        let project = &scene.repository.path;
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        let aside = scene.state.join("leaving").join(head.id().as_str());
        failpoint::arm(point, move || {
            let now = if folder.exists() { &folder } else { &aside };
            write(&now.join("late.txt"), "late\n");
            write(&now.join("README.md"), "late\n");
            true
        });
        let receipt = head.destroy().await.unwrap();
        failpoint::disarm_all();
        let kept = receipt.kept_ref.expect("it is named in the receipt");
        for name in ["late.txt", "README.md"] {
            let found = git(project, &["show", &format!("{kept}:{name}")]);
            assert_eq!(found, "late", "{point}");
        }
    }
}

/// C12 with a submodule, which can only be looked at where it belongs.
#[tokio::test]
async fn c12_a_head_with_a_submodule_keeps_what_is_written_late_too() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let library = Repository::small(&scene.root.path().join("library"));
    let at = library.path.to_str().unwrap();
    git(project, &["submodule", "--quiet", "add", at, "library"]);
    scene.repository.commit_all("a submodule");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    git(&folder, &["submodule", "--quiet", "update", "--init"]);
    // Its other commit is in the library too, and so nowhere only here.
    git(&folder.join("library"), &["checkout", "-q", "HEAD~1"]);
    let other = git(&folder.join("library"), &["rev-parse", "HEAD"]);
    assert_eq!(porcelain(&folder), [" M library"]);
    let late = folder.clone();
    failpoint::arm("git.destroy.after-preparation", move || {
        write(&late.join("late.txt"), "late\n");
        true
    });
    let kept = head.destroy().await.unwrap().kept_ref.unwrap();
    failpoint::disarm_all();
    assert!(!folder.exists());
    assert_eq!(git(project, &["show", &format!("{kept}:late.txt")]), "late");
    let link = git(project, &["rev-parse", &format!("{kept}:library")]);
    assert_eq!(link, other, "the commit that the submodule was at");
}

/// A destruction that is refused or fails leaves the head as it was, in its place.
#[tokio::test]
async fn a_destruction_that_fails_brings_the_folder_back() {
    let points = [
        "git.destroy.after-intent",
        "git.destroy.after-aside",
        "git.checkpoint.after-commit",
        "git.destroy.after-checkpoint",
        "git.destroy.after-references",
    ];
    for point in points {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("work.txt"), "work\n");
        write(&folder.join("ignored/cache"), "ignored\n");
        let before = snapshot(&folder);
        failpoint::arm(point, || false);
        head.destroy().await.unwrap_err();
        failpoint::disarm_all();
        assert_eq!(snapshot(&folder), before, "{point}");
        assert_eq!(porcelain(&folder), ["?? work.txt"], "{point}");
        let report = scene.reopened().doctor(false).await.unwrap();
        assert!(report.findings.is_empty(), "{point}: {report:?}");
        assert!(head.destroy().await.unwrap().kept_ref.is_some(), "{point}");
    }
}

#[tokio::test]
async fn a_repository_in_the_head_leaves_the_head_in_its_place() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    Repository::small(&folder.join("nested"));
    let before = snapshot(&folder);
    let refused = head.destroy().await.unwrap_err().to_string();
    assert!(refused.contains("nested"), "{refused}");
    assert_eq!(snapshot(&folder), before);
    let leaving = scene.state.join("leaving").read_dir().unwrap().count();
    assert_eq!(leaving, 0);
}

/// The references of a receipt beside that of what was uncommitted, with the content of a file in each.
async fn also_kept(scene: &Scene, head: &WorkspaceHead, file: &str) -> Vec<(String, String)> {
    let receipt = head.destroy().await.unwrap();
    let again = head.destroy().await.unwrap();
    assert_eq!(again, receipt, "the same answer each time");
    let project = &scene.repository.path;
    git(project, &["gc", "-q", "--prune=now"]);
    let prefix = format!("refs/everruns/heads/{}/kept/", head.id());
    let kept = receipt.also_kept.into_iter();
    kept.map(|name| {
        let content = git(project, &["show", &format!("{name}:{file}")]);
        (name.strip_prefix(&prefix).unwrap().to_owned(), content)
    })
    .collect()
}

/// Proves C12 for what Git has put aside for a rebase.
#[tokio::test]
async fn c12_the_autostash_of_a_rebase_is_kept() {
    for backend in ["merge", "apply"] {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("README.md"), "mine\n");
        git(&folder, &["commit", "-qam", "mine"]);
        git(&folder, &["branch", "upstream", "HEAD~1"]);
        write(&folder.join("src/two.rs"), "put aside\n");
        write(&scene.repository.path.join("README.md"), "theirs\n");
        scene.repository.commit_all("theirs");
        let stopped = try_git(
            &folder,
            &[
                "rebase",
                "-q",
                &format!("--{backend}"),
                "--autostash",
                "main",
            ],
        );
        assert!(!stopped.status.success(), "it stops at the conflict");
        assert!(!read(&folder.join("src/two.rs")).contains("put aside"));
        let kept = also_kept(&scene, &head, "src/two.rs").await;
        let [(name, content)] = kept.as_slice() else {
            panic!("{kept:?}");
        };
        let by = format!("rebase-{backend}/autostash-");
        assert!(name.starts_with(&by), "{name}");
        assert_eq!(content, "put aside");
    }
}

/// A merge with `--autostash` that stops at a conflict.
fn merge_with_autostash(scene: &Scene, folder: &Path) -> String {
    write(&folder.join("README.md"), "mine\n");
    git(folder, &["commit", "-qam", "mine"]);
    write(&scene.repository.path.join("README.md"), "theirs\n");
    scene.repository.commit_all("theirs");
    write(&folder.join("src/two.rs"), "put aside\n");
    let stopped = try_git(folder, &["merge", "-q", "--autostash", "main"]);
    assert!(!stopped.status.success(), "it stops at the conflict");
    git(folder, &["rev-parse", "MERGE_AUTOSTASH"])
}

/// Proves C12 for what Git has put aside for a merge: the checkpoint of the merge leads to it.
#[tokio::test]
async fn c12_the_autostash_of_a_merge_is_kept() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let stash = merge_with_autostash(&scene, &scene.folder(&head));
    let receipt = head.destroy().await.unwrap();
    let kept = receipt.kept_ref.unwrap();
    git(project, &["gc", "-q", "--prune=now"]);
    let reached = git(project, &["rev-list", &kept]);
    assert!(reached.lines().any(|commit| commit == stash));
    assert!(receipt.also_kept.is_empty(), "it is reached already");
}

/// A restore ends the merge, and what was put aside for it goes into no other commit; the checkpoint before brings both
/// back.
#[tokio::test]
async fn c12_a_restore_out_of_a_merge_keeps_its_autostash() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let first = head.checkpoint().await.unwrap();
    let stash = merge_with_autostash(&scene, &folder);
    let note = record(&folder).join("MERGE_AUTOSTASH");
    let status = porcelain(&folder);
    let before = head.restore(&first).await.unwrap().before;
    assert!(!note.exists());
    assert!(porcelain(&folder).is_empty());
    head.restore(&before).await.unwrap();
    assert_eq!(read(&note).trim(), stash);
    assert_eq!(porcelain(&folder), status);
    head.restore(&first).await.unwrap();
    head.destroy().await.unwrap();
    git(project, &["gc", "-q", "--prune=now"]);
    let content = git(project, &["show", &format!("{stash}:src/two.rs")]);
    assert_eq!(content, "put aside");
}

/// Proves C12 for references of the worktree alone.
#[tokio::test]
async fn c12_what_only_references_of_the_worktree_lead_to_is_kept() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let names = ["worktree/mine", "bisect/bad", "rewritten/onto"];
    let elsewhere = git(project, &["rev-parse", "main~1"]);
    git(&folder, &["update-ref", "refs/bisect/good-1", &elsewhere]);
    for name in names {
        write(&folder.join("README.md"), &format!("{name}\n"));
        git(&folder, &["commit", "-qam", name]);
        git(&folder, &["update-ref", &format!("refs/{name}"), "HEAD"]);
        git(&folder, &["reset", "-q", "--hard", "HEAD~1"]);
    }
    let kept = also_kept(&scene, &head, "README.md").await;
    assert_eq!(kept.len(), names.len(), "{kept:?}");
    for (name, content) in kept {
        let (by, _) = name.rsplit_once('-').unwrap();
        assert_eq!(by.strip_prefix("refs/"), Some(content.as_str()));
    }
}

/// A commit that only the detached `HEAD` of a worktree leads to is kept also when somebody removed the folder.
#[tokio::test]
async fn c12_a_detached_head_is_kept_without_its_folder() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    git(&folder, &["checkout", "-q", "--detach"]);
    write(&folder.join("README.md"), "detached\n");
    git(&folder, &["commit", "-qam", "detached"]);
    std::fs::remove_dir_all(&folder).unwrap();
    let kept = also_kept(&scene, &head, "README.md").await;
    let [(name, content)] = kept.as_slice() else {
        panic!("{kept:?}");
    };
    assert!(name.starts_with("HEAD-"), "{name}");
    assert_eq!(content, "detached");
}
