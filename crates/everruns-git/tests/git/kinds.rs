//! Repositories of every kind, each beside the real `git`.

use std::path::Path;
use std::sync::Arc;

use everruns_core::workspace::{
    CommitRequest, MergeOutcome, UpdateOutcome, Workspace, WorkspaceError, WorkspaceHead,
};
use tempfile::TempDir;

use crate::fixture::{
    Repository, Scene, git, make_executable, porcelain, read, snapshot, told, write,
};

/// What Git says of a working tree, its branch apart.
fn everything(folder: &Path) -> [String; 4] {
    let run = |args: &[&str]| {
        let mut all = vec!["--no-optional-locks"];
        all.extend_from_slice(args);
        String::from_utf8(crate::fixture::git_raw(folder, &all)).unwrap()
    };
    [
        run(&["status", "--porcelain=v2", "-uall"]),
        run(&["diff", "--binary"]),
        run(&["diff", "--cached", "--binary"]),
        run(&["ls-files", "-s", "-t"]),
    ]
}

fn kinds(status: &everruns_core::workspace::WorkspaceHeadStatus) -> Vec<&str> {
    status
        .degraded
        .iter()
        .map(|fact| fact.kind.as_str())
        .collect()
}

/// A repository with attributes that change files at checkout.
fn source(root: &Path) -> Repository {
    let source = Repository::small(&root.join("source"));
    write(&source.path.join(".gitattributes"), "*.txt text eol=crlf\n");
    write(&source.path.join("lines.txt"), "one\r\ntwo\r\n");
    source.commit_all("attributes");
    source
}

/// The life of a head in `project`, compared with git at every step; `target` is a branch that is checked out nowhere.
async fn lives(scene: &Scene, head: &WorkspaceHead, what: &str) {
    let project = &scene.repository.path;
    let folder = scene.folder(head);
    assert!(porcelain(&folder).is_empty(), "{what}");
    assert!(!head.status().await.unwrap().dirty, "{what}");
    assert_eq!(read(&folder.join("lines.txt")), "one\r\ntwo\r\n", "{what}");
    git(project, &["branch", "target", head.base()]);

    write(&folder.join("lines.txt"), "one\r\ntwo\r\nthree\r\n");
    write(&folder.join("staged.txt"), "staged\n");
    git(&folder, &["add", "staged.txt"]);
    write(&folder.join("src/loose.rs"), "loose\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    make_executable(&folder.join("README.md"));
    let before = everything(&folder);
    assert_eq!(told(&head.status().await.unwrap()), porcelain(&folder));
    let checkpoint = head.checkpoint().await.unwrap();
    assert_eq!(everything(&folder), before, "{what}");
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(everything(&scene.folder(&fork)), before, "{what}");
    write(&folder.join("src/loose.rs"), "wrong\n");
    git(&folder, &["reset", "-q"]);
    head.restore(&checkpoint).await.unwrap();
    assert_eq!(everything(&folder), before, "{what}");

    git(&scene.folder(&fork), &["add", "-A"]);
    let expected = git(&scene.folder(&fork), &["write-tree"]);
    let receipt = head.commit(CommitRequest::new("work")).await.unwrap();
    let tree = format!("{}^{{tree}}", receipt.revision);
    assert_eq!(git(project, &["rev-parse", &tree]), expected, "{what}");
    assert!(porcelain(&folder).is_empty(), "{what}");
    let outcome = head.merge_into("target").await.unwrap();
    assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{what}");
    let merged = git(project, &["rev-parse", "target^{tree}"]);
    assert_eq!(merged, expected, "{what}");
    write(&scene.folder(&fork).join("other.rs"), "other\n");
    git(&scene.folder(&fork), &["reset", "-q", "--hard"]);
    git(&scene.folder(&fork), &["clean", "-fdq"]);
    let outcome = fork.update_from("target").await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::FastForwarded { .. }));
    assert!(porcelain(&scene.folder(&fork)).is_empty(), "{what}");
    fork.destroy().await.unwrap();
    head.destroy().await.unwrap();
    assert_eq!(
        git(project, &["worktree", "list"]).lines().count(),
        1,
        "{what}"
    );
    git(project, &["fsck", "--strict"]);
    let report = scene.reopened().doctor(true).await.unwrap();
    let left: Vec<_> = report
        .findings
        .iter()
        .filter(|found| found.kind != "trash")
        .collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

fn configure(project: &Path) {
    git(project, &["config", "user.name", "A User"]);
    git(project, &["config", "user.email", "user@example.org"]);
}

fn cloned(args: &[&str]) -> (TempDir, Repository) {
    let root = tempfile::tempdir().unwrap();
    let source = source(root.path());
    git(&source.path, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", source.path.display());
    let mut all = vec!["clone", "-q"];
    all.extend_from_slice(args);
    git(
        root.path(),
        &[&all[..], &[url.as_str(), "project"]].concat(),
    );
    let path = std::fs::canonicalize(root.path().join("project")).unwrap();
    configure(&path);
    (root, Repository { path })
}

/// Proves H26 for bare repositories.
#[tokio::test]
async fn h26_a_bare_repository_has_whole_heads() {
    let (root, repository) = cloned(&["--bare"]);
    let scene = Scene::around(root, repository);
    let head = scene.head("one").await;
    let status = head.status().await.unwrap();
    assert!(status.degraded.is_empty(), "{:?}", status.degraded);
    lives(&scene, &head, "bare").await;
}

/// Proves H26 for shallow clones: whole heads, a fact in `status`, and the boundary is as it was.
#[tokio::test]
async fn h26_a_shallow_clone_has_whole_heads() {
    let (root, repository) = cloned(&["--depth=1"]);
    let scene = Scene::around(root, repository);
    let boundary = read(&scene.repository.path.join(".git/shallow"));
    let workspace = scene.workspace().await;
    let failure = workspace
        .head("earlier")
        .from_revision("HEAD~1")
        .create()
        .await
        .unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::UnknownRevision { .. }),
        "{failure:?}"
    );
    let head = scene.head("one").await;
    assert_eq!(kinds(&head.status().await.unwrap()), ["shallow"]);
    lives(&scene, &head, "shallow").await;
    assert_eq!(read(&scene.repository.path.join(".git/shallow")), boundary);
    // Both sides go on from the boundary.
    let head = scene.head("two").await;
    write(&scene.folder(&head).join("mine.rs"), "mine\n");
    head.commit(CommitRequest::new("mine")).await.unwrap();
    write(&scene.repository.path.join("theirs.rs"), "theirs\n");
    scene.repository.commit_all("theirs");
    let outcome = head.update_from("main").await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::Merged { .. }));
    let outcome = head.merge_into("main").await.unwrap();
    assert!(matches!(outcome, MergeOutcome::Merged { .. }));
    assert_eq!(read(&scene.repository.path.join("mine.rs")), "mine\n");
    git(&scene.repository.path, &["fsck", "--strict"]);
}

/// Proves H26 for repositories whose ids are SHA-256.
#[tokio::test]
async fn h26_a_sha256_repository_has_whole_heads() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("project");
    let init = ["init", "-q", "-b", "main", "--object-format=sha256"];
    git(root.path(), &[&init[..], &["project"]].concat());
    configure(&path);
    let repository = Repository {
        path: std::fs::canonicalize(&path).unwrap(),
    };
    let files = source(root.path());
    let patch = git(
        &files.path,
        &["log", "-p", "--binary", "--format=", "--reverse"],
    );
    let file = root.path().join("patch");
    std::fs::write(&file, patch + "\n").unwrap();
    git(&repository.path, &["apply", file.to_str().unwrap()]);
    repository.commit_all("all of it");
    let scene = Scene::around(root, repository);
    let head = scene.head("one").await;
    assert_eq!(head.base().len(), 64);
    assert!(head.status().await.unwrap().degraded.is_empty());
    lives(&scene, &head, "SHA-256").await;
}

/// Proves H27 for sparse checkouts: of the repository, which a head doesn't take over, and of a head itself.
#[tokio::test]
async fn h27_sparse_checkouts_are_told_and_kept() {
    let (root, repository) = cloned(&[]);
    let scene = Scene::around(root, repository);
    let project = &scene.repository.path;
    git(
        project,
        &["sparse-checkout", "set", "--no-cone", "/*", "!/src/"],
    );
    git(project, &["config", "core.sparseCheckout", "true"]);
    let before = snapshot(project);
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    assert_eq!(read(&folder.join("src/two.rs")).lines().count(), 3);
    let status = head.status().await.unwrap();
    assert_eq!(kinds(&status), ["sparse-checkout"]);
    assert!(
        status.degraded[0]
            .detail
            .ends_with("this head has all files")
    );
    lives(&scene, &head, "beside a sparse checkout").await;
    git(project, &["update-ref", "-d", "refs/heads/target"]);
    assert_eq!(snapshot(project), before, "the user's own stays sparse");
    // A branch that is checked out sparsely is not written into.
    let other = scene.head("two").await;
    write(&scene.folder(&other).join("new.rs"), "new\n");
    let failure = other.merge_into("main").await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::BranchInUse { .. }),
        "{failure:?}"
    );

    // The user makes the head itself sparse.
    let folder = scene.folder(&other);
    git(
        &folder,
        &["sparse-checkout", "set", "--no-cone", "/*", "!/src/"],
    );
    assert!(!folder.join("src").exists());
    let detail = other.status().await.unwrap().degraded.remove(0).detail;
    assert!(detail.ends_with("3 of its files are left out"), "{detail}");
    // What is made in a folder that was left out is work like any other.
    write(&folder.join("src/extra.rs"), "extra\n");
    assert_eq!(told(&other.status().await.unwrap()), porcelain(&folder));
    let with_extra = other.checkpoint().await.unwrap();
    std::fs::remove_dir_all(folder.join("src")).unwrap();
    other.restore(&with_extra).await.unwrap();
    assert_eq!(read(&folder.join("src/extra.rs")), "extra\n");
    std::fs::remove_dir_all(folder.join("src")).unwrap();
    let before = everything(&folder);
    assert_eq!(told(&other.status().await.unwrap()), porcelain(&folder));
    let checkpoint = other.checkpoint().await.unwrap();
    write(&folder.join("new.rs"), "changed\n");
    write(&folder.join("README.md"), "changed\n");
    other.restore(&checkpoint).await.unwrap();
    assert_eq!(everything(&folder), before, "what was left out stays out");
    assert!(!folder.join("src").exists());
    let fork = other.fork("three").await.unwrap();
    assert_eq!(porcelain(&scene.folder(&fork)), porcelain(&folder));
    other.commit(CommitRequest::new("work")).await.unwrap();
    assert!(porcelain(&folder).is_empty());
    assert!(!folder.join("src").exists());
    assert_eq!(
        git(&folder, &["ls-tree", "-r", "--name-only", "HEAD", "src"])
            .lines()
            .count(),
        3
    );

    // An index that leaves out whole folders is one that isn't read; that is said.
    git(
        &folder,
        &[
            "sparse-checkout",
            "set",
            "--cone",
            "--sparse-index",
            "tools",
        ],
    );
    let failure = other.status().await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::UnsupportedRepository { reason, .. } if reason.contains("--no-sparse-index")),
        "{failure:?}"
    );
    git(
        &folder,
        &["sparse-checkout", "reapply", "--no-sparse-index"],
    );
    assert!(!other.status().await.unwrap().dirty);
}

/// Proves H27 for partial clones: without the contents no head, and with them a whole one.
#[tokio::test]
async fn h27_a_partial_clone_lacks_nothing_silently() {
    let (root, repository) = cloned(&["--filter=blob:none", "--no-checkout"]);
    let scene = Scene::around(root, repository);
    let project = &scene.repository.path;
    let before = snapshot(project);
    let workspace = scene.workspace().await;
    let failure = workspace.head("one").create().await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::UnsupportedRepository { reason, .. } if reason.contains("git archive")),
        "{failure:?}"
    );
    assert!(workspace.heads().await.unwrap().is_empty());
    assert_eq!(git(project, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(snapshot(project), before);
    // What the error proposes.
    crate::fixture::git_raw(project, &["archive", "HEAD"]);
    let head = workspace.head("one").create().await.unwrap();
    assert_eq!(kinds(&head.status().await.unwrap()), ["partial-clone"]);
    lives(&scene, &head, "a partial clone").await;
}

/// Proves H26 and C02 for linked worktrees as locators, whose branches are followed as well.
#[tokio::test]
async fn h26_a_linked_worktree_leads_to_its_repository() {
    let (root, repository) = cloned(&[]);
    let linked = root.path().join("linked");
    git(
        &repository.path,
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "side",
            linked.to_str().unwrap(),
        ],
    );
    let linked = std::fs::canonicalize(linked).unwrap();
    write(&linked.join("side.rs"), "side\n");
    git(&linked, &["add", "-A"]);
    git(&linked, &["commit", "-qm", "side"]);
    let scene = Scene::around(root, repository);
    let locator = linked.join("src").to_str().unwrap().to_owned();
    let workspace = Workspace::open(Arc::clone(&scene.backend), locator)
        .await
        .unwrap();
    assert_eq!(workspace.id(), scene.workspace().await.id());
    assert_eq!(workspace.name(), "project");
    let before = snapshot(&linked);
    let head = workspace.head("one").create().await.unwrap();
    let main = git(&scene.repository.path, &["rev-parse", "main"]);
    assert_eq!(head.base(), main, "HEAD is the repository's");
    let side = workspace
        .head("two")
        .from_revision("side")
        .create()
        .await
        .unwrap();
    let folder = scene.folder(&side);
    assert_eq!(read(&folder.join("side.rs")), "side\n");
    write(&folder.join("side.rs"), "changed\n");
    side.checkpoint().await.unwrap();
    assert_eq!(snapshot(&linked), before);
    // The branch is checked out in the linked worktree, which follows.
    write(&linked.join("side.rs"), "the user's own\n");
    let failure = side.merge_into("side").await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::BranchInUse { location, files, .. } if *location == linked && files == &["side.rs"]),
        "{failure:?}"
    );
    git(&linked, &["checkout", "-q", "side.rs"]);
    side.merge_into("side").await.unwrap();
    assert!(porcelain(&linked).is_empty());
    assert_eq!(read(&linked.join("side.rs")), "changed\n");
    let status = git(&linked, &["status", "--porcelain=v2", "--branch"]);
    assert!(status.contains("branch.head side"));
}

/// A submodule leads to the workspace of its own repository.
#[tokio::test]
async fn h27_a_submodule_is_a_repository_of_its_own() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let library = Repository::small(&scene.root.path().join("library"));
    let add = ["submodule", "add", "-q", library.path.to_str().unwrap()];
    git(project, &[&add[..], &["vendor/library"]].concat());
    scene.repository.commit_all("submodule");
    let submodule = std::fs::canonicalize(project.join("vendor/library")).unwrap();
    configure(&submodule);
    let locator = submodule.join("src").to_str().unwrap().to_owned();
    let workspace = Workspace::open(Arc::clone(&scene.backend), locator)
        .await
        .unwrap();
    assert_ne!(workspace.id(), scene.workspace().await.id());
    assert_eq!(workspace.name(), "library");
    let head = workspace.head("one").create().await.unwrap();
    let folder = scene.folder(&head);
    assert!(porcelain(&folder).is_empty());
    write(&folder.join("README.md"), "changed\n");
    assert_eq!(told(&head.status().await.unwrap()), porcelain(&folder));
    head.commit(CommitRequest::new("work")).await.unwrap();
    let failure = head.merge_into("main").await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::BranchInUse { location, .. } if *location == submodule),
        "{failure:?}"
    );
    let branch = head.descriptor().branch.clone().unwrap();
    git(&submodule, &["merge", "-q", "--ff-only", &branch]);
    assert_eq!(read(&submodule.join("README.md")), "changed\n");
    assert_eq!(porcelain(project), [" M vendor/library"]);
    head.destroy().await.unwrap();
    assert!(porcelain(&submodule).is_empty());
}
