//! Heads from their creation to their end, as Git sees them.

use std::sync::Arc;

use everruns_core::workspace::{
    Workspace, WorkspaceError, WorkspaceHeadAccess, WorkspaceHeadState,
};

use everruns_git::LocalGitWorkspace;

use crate::fixture::{Scene, git, porcelain, read, try_git, write};

/// Proves C02: every path into a repository is one workspace.
#[tokio::test]
async fn c02_every_path_into_a_repository_is_one_workspace() {
    let scene = Scene::new();
    let root = scene.root.path();
    let project = &scene.repository.path;
    std::os::unix::fs::symlink(project, root.join("alias")).unwrap();
    git(
        project,
        &[
            "worktree",
            "add",
            "-q",
            root.join("second").to_str().unwrap(),
        ],
    );
    let head = scene.head("one").await;
    let paths = [
        project.clone(),
        project.join("src/deep"),
        project.join("README.md"),
        project.join(".git"),
        root.join("alias"),
        root.join("alias/src"),
        root.join("second"),
        scene.folder(&head),
    ];
    for path in paths {
        let locator = path.to_str().unwrap();
        let workspace = Workspace::open(Arc::clone(&scene.backend), locator)
            .await
            .unwrap();
        assert_eq!(workspace.id(), head.workspace_id(), "{locator}");
        assert_eq!(workspace.name(), "project");
    }
}

/// Heads are real linked worktrees.
#[tokio::test]
async fn heads_are_worktrees_that_git_accepts() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene
        .workspace()
        .await
        .head("Fix the Parser!")
        .from_revision("main")
        .create()
        .await
        .unwrap();
    let folder = scene.folder(&head);
    assert_eq!(head.access(), WorkspaceHeadAccess::Isolated);
    assert_eq!(head.base(), git(project, &["rev-parse", "main"]));
    let branch = head.descriptor().branch.clone().unwrap();
    assert!(branch.starts_with("everruns/fix-the-parser-"), "{branch}");

    let listed = git(project, &["worktree", "list", "--porcelain"]);
    assert!(
        listed.contains(&format!("worktree {}", folder.display())),
        "{listed}"
    );
    assert!(listed.contains("locked everruns head"), "{listed}");
    assert!(porcelain(&folder).is_empty());
    assert_eq!(
        git(&folder, &["symbolic-ref", "HEAD"]),
        format!("refs/heads/{branch}")
    );
    assert_eq!(git(&folder, &["log", "--oneline"]).lines().count(), 2);
    assert!(git(&folder, &["reflog", "-1"]).contains("everruns: create head"));
    git(&folder, &["fsck", "--strict"]);
    assert_eq!(
        git(&folder, &["ls-files", "-s"]),
        git(project, &["ls-files", "-s"])
    );
    for name in ["README.md", "src/deep/er/file.txt", "tools/run.sh"] {
        assert_eq!(read(&folder.join(name)), read(&project.join(name)));
    }
    assert_eq!(
        std::fs::read_link(folder.join("link")).unwrap().to_str(),
        Some("README.md")
    );

    write(&folder.join("new.txt"), "new\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "in the head"]);
    assert!(!project.join("new.txt").exists());

    git(project, &["worktree", "prune"]);
    assert!(folder.exists());
    let plain = try_git(project, &["worktree", "remove", folder.to_str().unwrap()]);
    assert!(
        !plain.status.success(),
        "the lock keeps git from removing it by accident"
    );
    git(project, &["worktree", "unlock", folder.to_str().unwrap()]);
    git(project, &["worktree", "remove", folder.to_str().unwrap()]);
    assert!(!folder.exists());
}

/// Proves C03: a head's id survives, and so does its content.
#[tokio::test]
async fn c03_reopening_gives_exactly_the_head() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("kept.txt"), "kept\n");
    let binding = head.binding();
    let text = serde_json::to_string(&binding).unwrap();
    let binding = serde_json::from_str(&text).unwrap();
    drop(head);

    let again = everruns_core::workspace::WorkspaceHead::reopen(scene.reopened(), &binding)
        .await
        .unwrap();
    assert_eq!(again.id(), &binding.head_id);
    assert_eq!(read(&scene.folder(&again).join("kept.txt")), "kept\n");
    let descriptor = scene
        .reopened()
        .heads(again.workspace_id())
        .await
        .unwrap()
        .remove(0);
    assert_eq!(&descriptor, again.descriptor());
}

/// Proves C11: dropping handles removes nothing.
#[tokio::test]
async fn c11_dropping_everything_removes_nothing() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let branch = head.descriptor().branch.clone().unwrap();
    let Scene {
        root,
        repository,
        backend,
        ..
    } = scene;
    drop((head, backend));
    assert!(folder.join("README.md").exists());
    git(&repository.path, &["rev-parse", "--verify", &branch]);
    drop(root);
}

/// Proves C12: destroying keeps the branch, and what was uncommitted under a named reference.
#[tokio::test]
async fn c12_destroy_keeps_the_branch_and_uncommitted_work() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("README.md"), "changed\n");
    write(&folder.join("untracked.txt"), "untracked\n");
    write(&folder.join("ignored/cache"), "ignored\n");
    std::os::unix::fs::symlink(project, folder.join("way-out")).unwrap();

    let receipt = head.destroy().await.unwrap();
    assert!(!folder.exists());
    assert!(project.join("README.md").exists(), "links are not followed");
    let branch = receipt.kept_branch.clone().unwrap();
    git(project, &["rev-parse", "--verify", &branch]);
    let kept = receipt.kept_ref.clone().unwrap();
    assert_eq!(
        git(project, &["show", &format!("{kept}:README.md")]),
        "changed"
    );
    assert_eq!(
        git(project, &["show", &format!("{kept}:untracked.txt")]),
        "untracked"
    );
    assert_eq!(git(project, &["worktree", "list"]).lines().count(), 1);
    scene.trash_is_emptied().await;

    assert_eq!(
        head.destroy().await.unwrap(),
        receipt,
        "destroying again changes nothing"
    );
    let gone = scene
        .workspace()
        .await
        .reopen(&head.binding())
        .await
        .unwrap_err();
    assert!(
        matches!(&gone, WorkspaceError::HeadDestroyed { kept: Some(at), .. } if *at == kept),
        "{gone}"
    );
    assert!(matches!(
        head.status().await,
        Err(WorkspaceError::HeadDestroyed { .. })
    ));
    scene.workspace().await.head("one").create().await.unwrap();
}

#[tokio::test]
async fn c12_destroying_a_clean_head_needs_no_reference() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let receipt = head.destroy().await.unwrap();
    assert_eq!((receipt.kept_ref, receipt.checkpoint), (None, None));
    assert!(receipt.kept_branch.is_some());
}

/// Proves C13: archiving blocks reopening, not who has the head open.
#[tokio::test]
async fn c13_archive_blocks_reopening_and_nothing_else() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("work.txt"), "work\n");
    head.archive().await.unwrap();
    head.archive().await.unwrap();
    assert!(head.status().await.unwrap().archived);
    let workspace = scene.workspace().await;
    let refused = workspace.reopen(&head.binding()).await.unwrap_err();
    assert!(
        matches!(refused, WorkspaceError::HeadArchived { .. }),
        "{refused}"
    );
    assert_eq!(
        workspace.heads().await.unwrap()[0].state,
        WorkspaceHeadState::Archived
    );

    scene
        .backend
        .unarchive_head(workspace.id(), head.id())
        .await
        .unwrap();
    let again = workspace.reopen(&head.binding()).await.unwrap();
    assert_eq!(read(&scene.folder(&again).join("work.txt")), "work\n");
}

/// The index says which trees its entries make, as Git writes it, so that neither has to read trees to compare.
#[tokio::test]
async fn the_index_of_a_head_knows_its_trees() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let index = folder_of_record(&folder).join("index");
    let ours = std::fs::read(&index).unwrap();
    let tree = git(&folder, &["rev-parse", "HEAD^{tree}"]);
    let marked = |bytes: &[u8]| bytes.windows(4).any(|four| four == b"TREE");
    assert!(marked(&ours));
    // Git makes a tree of a fully cached index without looking at its entries, and checks what it reads.
    assert_eq!(git(&folder, &["write-tree"]), tree);
    git(&folder, &["fsck", "--strict", "--cache"]);
    write(&folder.join("src/deep/er/file.txt"), "staged\n");
    git(&folder, &["add", "."]);
    assert_eq!(porcelain(&folder), ["M  src/deep/er/file.txt"]);
    let status = head.status().await.unwrap();
    assert_eq!(crate::fixture::told(&status), porcelain(&folder));
    git(&folder, &["commit", "-qm", "staged"]);
    git(&folder, &["fsck", "--strict"]);
}

/// An index lock that a dead process of ours left is not in the way; anybody else's is.
#[tokio::test]
async fn an_index_lock_is_replaced_only_if_its_holder_is_proved_dead() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let first = head.checkpoint().await.unwrap();
    let lock = folder_of_record(&folder).join("index.lock");
    let boot = read(std::path::Path::new("/proc/sys/kernel/random/boot_id"));
    let dead = "everruns holder 1\npid 1\nstart 1\nboot another\nnamespace -\n";
    let alive = format!(
        "everruns holder 1\npid 1\nstart 1\nboot {}\nnamespace elsewhere\n",
        boot.trim()
    );
    for (text, in_the_way) in [("", true), (alive.as_str(), true), (dead, false)] {
        write(&folder.join("README.md"), "changed\n");
        write(&lock, text);
        let outcome = head.restore(&first).await;
        assert_eq!(outcome.is_err(), in_the_way, "{text:?}");
        assert_eq!(lock.exists(), in_the_way);
        drop(std::fs::remove_file(&lock));
        if in_the_way {
            // It had not begun, so nobody finishes it.
            scene.reopened();
            assert_eq!(porcelain(&folder), [" M README.md"], "{text:?}");
            head.restore(&first).await.unwrap();
        }
        assert!(porcelain(&folder).is_empty(), "{text:?}");
    }
}

/// The record of the worktree at `folder` in its repository.
fn folder_of_record(folder: &std::path::Path) -> std::path::PathBuf {
    git(folder, &["rev-parse", "--absolute-git-dir"]).into()
}

#[tokio::test]
async fn the_workspaces_of_a_state_are_listed_even_when_a_repository_is_gone() {
    let scene = Scene::new();
    let backend = LocalGitWorkspace::new(&scene.state).unwrap();
    assert!(backend.workspaces().await.unwrap().is_empty());
    let workspace = scene.workspace().await;
    let listed = backend.workspaces().await.unwrap();
    assert_eq!(listed, [workspace.descriptor().clone()]);
    std::fs::remove_dir_all(&scene.repository.path).unwrap();
    let records = scene.state.join("workspaces");
    write(&records.join("git-0.json"), "not a record");
    assert_eq!(backend.workspaces().await.unwrap(), listed);
}
