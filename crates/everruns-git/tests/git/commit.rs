//! Commits of a head's working state.

use everruns_core::workspace::{CommitIdentity, CommitRequest, WorkspaceError};

use crate::fixture::{Scene, git, porcelain, snapshot, try_git, write};

#[tokio::test]
async fn a_commit_holds_everything_and_leaves_the_head_clean() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("new/untracked.txt"), "new\n");
    write(&folder.join("README.md"), "# Staged\n");
    git(&folder, &["add", "README.md"]);
    write(&folder.join("README.md"), "# Changed again\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    write(&folder.join("noise.log"), "ignored\n");
    let outside = snapshot(&scene.repository.path);
    let request = CommitRequest::new("\nThe subject  \n\n\nThe body\n\n");
    let receipt = head.commit(request).await.unwrap();
    assert_eq!(
        receipt.changed,
        ["README.md", "new/untracked.txt", "src/two.rs"]
    );
    assert!(porcelain(&folder).is_empty());
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), receipt.revision);
    assert_eq!(git(&folder, &["rev-parse", "HEAD^"]), head.base());
    assert_eq!(
        git(&folder, &["rev-parse", &receipt.branch]),
        receipt.revision
    );
    assert_eq!(
        git(&folder, &["log", "-1", "--format=%B|%an <%ae>|%cn <%ce>"]),
        "The subject\n\nThe body\n|A User <user@example.org>|A User <user@example.org>"
    );
    assert_eq!(snapshot(&scene.repository.path), outside);
    assert!(git(&folder, &["reflog", "-1", &receipt.branch]).contains("commit: The subject"));
    git(&folder, &["fsck", "--strict"]);
    let again = head.commit(CommitRequest::new("again")).await.unwrap_err();
    assert!(
        matches!(again, WorkspaceError::NothingToCommit { .. }),
        "{again:?}"
    );
}

#[tokio::test]
async fn a_commit_of_paths_leaves_the_rest_as_it_is() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("README.md"), "# Staged\n");
    git(&folder, &["add", "README.md"]);
    write(&folder.join("src/lib.rs"), "changed\n");
    write(&folder.join("src/new.rs"), "new\n");
    write(&folder.join("announced.txt"), "later\n");
    git(&folder, &["add", "-N", "announced.txt"]);
    let request = |paths: &[&str]| CommitRequest {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..CommitRequest::new("Some")
    };
    let failure = head.commit(request(&["src", "srcs"])).await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::UnknownPaths { paths, .. } if paths == &["srcs"]),
        "{failure:?}"
    );
    let receipt = head.commit(request(&["/workspace/src/"])).await.unwrap();
    assert_eq!(receipt.changed, ["src/lib.rs", "src/new.rs"]);
    assert_eq!(porcelain(&folder), ["M  README.md", " A announced.txt"]);
    let failure = head.commit(request(&["src"])).await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::NothingToCommit { .. }),
        "{failure:?}"
    );
    for hostile in ["../x", "a\0b", ".git/config"] {
        assert!(head.commit(request(&[hostile])).await.is_err(), "{hostile}");
    }
    head.commit(request(&["announced.txt"])).await.unwrap();
    assert_eq!(porcelain(&folder), ["M  README.md"]);
}

#[tokio::test]
async fn nobody_is_made_up() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    git(project, &["config", "--unset", "user.name"]);
    git(project, &["config", "--unset", "user.email"]);
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("a.txt"), "a\n");
    let failure = head.commit(CommitRequest::new("a")).await.unwrap_err();
    assert!(
        failure.to_string().contains("user.name and user.email"),
        "{failure}"
    );
    let named = |name: &str, email: &str| CommitRequest {
        author: Some(CommitIdentity::new(name, email)),
        ..CommitRequest::new("a")
    };
    let failure = head.commit(named("A", " <> ")).await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::IdentityMissing { .. }),
        "{failure:?}"
    );
    assert_eq!(porcelain(&folder), ["?? a.txt"]);
    git(project, &["config", "committer.name", "The Machine"]);
    git(project, &["config", "user.email", "machine@example.org"]);
    head.commit(named("Nāme <x>", "name@example.org"))
        .await
        .unwrap();
    assert_eq!(
        git(&folder, &["log", "-1", "--format=%an <%ae>|%cn <%ce>"]),
        "Nāme x <name@example.org>|The Machine <machine@example.org>"
    );
    git(&folder, &["fsck", "--strict"]);
}

#[tokio::test]
async fn what_is_no_commit_is_refused_and_changes_nothing() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("a.txt"), "a\n");
    for message in ["", " \n\t\n", "a\0b"] {
        let failure = head.commit(CommitRequest::new(message)).await.unwrap_err();
        assert!(
            matches!(failure, WorkspaceError::InvalidMessage { .. }),
            "{failure:?}"
        );
    }
    // A pipe in the place of a tracked file would look like its removal.
    std::fs::remove_file(folder.join("README.md")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("README.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let failure = head.commit(CommitRequest::new("x")).await.unwrap_err();
    assert!(
        matches!(&failure, WorkspaceError::NotStorable { files, .. } if files == &["README.md"]),
        "{failure:?}"
    );
    std::fs::remove_file(folder.join("README.md")).unwrap();
    git(&folder, &["checkout", "-q", "README.md"]);

    git(&folder, &["checkout", "-q", "-b", "other"]);
    assert!(head.commit(CommitRequest::new("x")).await.is_err());
    let own = head.descriptor().branch.clone().unwrap();
    git(&folder, &["checkout", "-q", &own]);
    assert_eq!(porcelain(&folder), ["?? a.txt"]);

    // A cherry-pick that stopped is not ours to conclude.
    write(&folder.join("README.md"), "# Mine\n");
    git(&folder, &["commit", "-qam", "mine"]);
    git(&folder, &["branch", "pick", "HEAD^"]);
    let side = scene.root.path().join("side");
    git(
        &folder,
        &["worktree", "add", "-q", side.to_str().unwrap(), "pick"],
    );
    write(&side.join("README.md"), "# Picked\n");
    git(&side, &["commit", "-qam", "picked"]);
    assert!(!try_git(&folder, &["cherry-pick", "pick"]).status.success());
    let failure = head.commit(CommitRequest::new("x")).await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::OperationInProgress { .. }),
        "{failure:?}"
    );
}

/// A commit that loses the race for its branch leaves the index as it was.
#[tokio::test]
async fn a_branch_that_moved_is_not_overwritten() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("README.md"), "# Staged\n");
    git(&folder, &["add", "README.md"]);
    write(&folder.join("a.txt"), "a\n");
    let (branch, at) = (head.descriptor().branch.clone().unwrap(), folder.clone());
    everruns_core::failpoint::arm("git.advance.after-flush", move || {
        let tree = git(&at, &["rev-parse", "HEAD^{tree}"]);
        let parent = git(&at, &["rev-parse", "HEAD"]);
        let other = git(&at, &["commit-tree", "-p", &parent, "-m", "other", &tree]);
        git(
            &at,
            &["update-ref", &format!("refs/heads/{branch}"), &other],
        );
        true
    });
    let failure = head.commit(CommitRequest::new("mine")).await.unwrap_err();
    everruns_core::failpoint::disarm_all();
    assert!(
        matches!(failure, WorkspaceError::BranchMoved { .. }) && failure.is_retryable(),
        "{failure:?}"
    );
    assert_eq!(porcelain(&folder), ["M  README.md", "?? a.txt"]);
    head.commit(CommitRequest::new("mine")).await.unwrap();
    assert_eq!(git(&folder, &["log", "--format=%s", "-2"]), "mine\nother");
}

/// After a commit the index knows the files that it holds, so that nothing has to read them again, and the trees.
#[tokio::test]
async fn a_commit_leaves_an_index_that_git_need_not_refresh() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("src/new.rs"), "new\n");
    std::thread::sleep(std::time::Duration::from_millis(200));
    head.commit(CommitRequest::new("new")).await.unwrap();
    let known = git(&folder, &["ls-files", "--debug", "src/new.rs"]);
    assert!(!known.contains("mtime: 0:0"), "{known}");
    assert!(known.contains("size: 4"), "{known}");
    let tree = git(&folder, &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(git(&folder, &["write-tree"]), tree);
    write(&folder.join("src/new.rs"), "old\n");
    assert_eq!(porcelain(&folder), [" M src/new.rs"]);
}
