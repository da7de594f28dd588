//! Bringing work home.

use std::sync::{Arc, Mutex};

use everruns_core::failpoint;
use everruns_core::workspace::{
    CommitIdentity, MergeOutcome, MergeRequest, MergeStrategy, WorkspaceError,
};

use crate::fixture::{Scene, git, porcelain, read, snapshot, try_git, write};

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
    git(project, &["worktree", "remove", side.to_str().unwrap()]);
    let before = snapshot(project);
    let outcome = head.merge_into("target").await.unwrap();
    let MergeOutcome::Conflicts(conflicts) = outcome else {
        panic!("{outcome:?}")
    };
    let conflict = &conflicts[0];
    assert_eq!(conflict.path, "README.md");
    let side = |side: &Option<everruns_core::workspace::ConflictSide>| {
        let side = side.clone().unwrap();
        assert_eq!(side.mode, 0o100_644);
        git(project, &["cat-file", "blob", &side.revision])
    };
    assert_eq!(
        [&conflict.base, &conflict.ours, &conflict.theirs].map(side),
        ["# Project", "# Theirs", "# Ours"]
    );
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
    let own = head.descriptor().branch.clone().unwrap();
    let failure = head.merge_into(own).await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::BranchInUse { .. }),
        "{failure}"
    );
}

#[tokio::test]
async fn a_checked_out_branch_that_is_clean_is_followed() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    write(&project.join("untracked.txt"), "the user's\n");
    write(&project.join("noise.log"), "ignored\n");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("new/file.txt"), "work\n");
    write(&folder.join("README.md"), "# Changed\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    std::fs::remove_file(folder.join("link")).unwrap();
    std::os::unix::fs::symlink("src", folder.join("link")).unwrap();
    let outcome = head.merge_into("main").await.unwrap();
    let MergeOutcome::Merged { revision } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(git(project, &["rev-parse", "HEAD"]), revision);
    assert_eq!(git(project, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(porcelain(project), ["?? untracked.txt"]);
    assert_eq!(read(&project.join("new/file.txt")), "work\n");
    assert!(!project.join("src/two.rs").exists());
    assert_eq!(
        std::fs::read_link(project.join("link")).unwrap().to_str(),
        Some("src")
    );
    assert_eq!(read(&project.join("noise.log")), "ignored\n");
    git(project, &["fsck", "--strict"]);
    // And again, into the branch of another head, which follows as well.
    let other = scene.head("two").await;
    write(&folder.join("more.txt"), "more\n");
    let branch = other.descriptor().branch.clone().unwrap();
    head.merge_into(branch).await.unwrap();
    assert_eq!(read(&scene.folder(&other).join("more.txt")), "more\n");
    assert!(porcelain(&scene.folder(&other)).is_empty());
}

/// What somebody has changed in the user's own worktree keeps the branch where it is, and is named.
#[tokio::test]
async fn h30_a_checked_out_branch_with_changes_stays() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("new.txt"), "work\n");
    let cases: [(&str, &[&str]); 4] = [
        ("README.md", &[]),
        ("README.md", &["add", "README.md"]),
        ("staged.txt", &["add", "staged.txt"]),
        ("new.txt", &[]),
    ];
    for (path, stage) in cases {
        let kept = std::fs::read(project.join(path)).ok();
        write(&project.join(path), "the user's\n");
        if !stage.is_empty() {
            git(project, stage);
        }
        let before = snapshot(project);
        let failure = head.merge_into("main").await.unwrap_err();
        let WorkspaceError::BranchInUse { files, .. } = &failure else {
            panic!("{failure:?}")
        };
        assert_eq!(files, &[path]);
        assert_eq!(snapshot(project), before, "{path}");
        git(project, &["reset", "-q"]);
        match kept {
            Some(bytes) => std::fs::write(project.join(path), bytes).unwrap(),
            None => std::fs::remove_file(project.join(path)).unwrap(),
        }
    }
    write(&project.join("ignored/new"), "");
    git(project, &["checkout", "-q", "-b", "aside"]);
    git(project, &["checkout", "-q", "main"]);
    head.merge_into("main").await.unwrap();
}

#[tokio::test]
async fn a_filter_that_is_not_run_keeps_a_checked_out_branch() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    write(&project.join(".gitattributes"), "*.bin filter=lfs\n");
    scene.repository.commit_all("attributes");
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("a.bin"), "work\n");
    let failure = head.merge_into("main").await.unwrap_err();
    let WorkspaceError::BranchInUse { files, .. } = &failure else {
        panic!("{failure:?}")
    };
    assert_eq!(files, &["a.bin"]);
}

#[tokio::test]
async fn a_merge_in_nobodys_name_is_refused() {
    let scene = scene_with_target();
    let project = &scene.repository.path;
    git(project, &["config", "--unset", "user.email"]);
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("a.txt"), "a\n");
    let before = snapshot(project);
    let failure = head.merge_into("target").await.unwrap_err();
    let WorkspaceError::IdentityMissing { missing } = &failure else {
        panic!("{failure:?}")
    };
    assert_eq!(missing, "user.email");
    assert_eq!(snapshot(project), before);
    let request = MergeRequest {
        branch: "target".to_owned(),
        author: Some(CommitIdentity::new("Named", "named@example.org")),
        ..MergeRequest::default()
    };
    head.merge(request).await.unwrap();
    let format = "--format=%an <%ae> %cn <%ce>";
    assert_eq!(
        git(project, &["log", "-1", format, "target"]),
        "Named <named@example.org> Named <named@example.org>"
    );
}

/// Proves H52 for merges: whoever comes second merges into what the first one left.
#[tokio::test(flavor = "multi_thread")]
async fn h52_parallel_merges_into_a_checked_out_branch_all_arrive() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let mut merges = Vec::new();
    for number in 0..6 {
        let head = scene.head(&format!("head {number}")).await;
        write(&scene.folder(&head).join(format!("{number}.txt")), "work\n");
        merges.push(tokio::spawn(async move { head.merge_into("main").await }));
    }
    for merge in merges {
        let outcome = merge.await.unwrap().unwrap();
        assert!(
            matches!(outcome, MergeOutcome::Merged { .. }),
            "{outcome:?}"
        );
    }
    assert!(porcelain(project).is_empty());
    for number in 0..6 {
        assert!(project.join(format!("{number}.txt")).exists());
    }
    git(project, &["fsck", "--strict"]);
}

/// Proves H30 for what the user stages while a merge is about to change the index: it waits, and isn't overwritten.
#[tokio::test]
async fn h30_nobody_stages_anything_while_a_worktree_follows() {
    for fails in [false, true] {
        let scene = Scene::new();
        let project = scene.repository.path.clone();
        let head = scene.head("one").await;
        write(&scene.folder(&head).join("work.txt"), "work\n");
        write(&project.join("new.txt"), "the user's\n");
        let (staged, at) = (Arc::new(Mutex::new(Vec::new())), project.clone());
        let told = Arc::clone(&staged);
        let stage = move || {
            let output = try_git(&at, &["add", "new.txt"]);
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            told.lock().unwrap().push(words);
        };
        let again = stage.clone();
        failpoint::arm("git.merge.after-work", move || {
            stage();
            true
        });
        failpoint::arm("git.advance.after-index", move || {
            again();
            !fails
        });
        let outcome = head.merge_into("main").await;
        failpoint::disarm_all();
        assert_eq!(outcome.is_err(), fails);
        let staged = staged.lock().unwrap();
        assert!(
            staged.len() == 2 && staged.iter().all(|words| words.contains("index.lock")),
            "{staged:?}"
        );
        assert_eq!(porcelain(&project), ["?? new.txt"]);
        assert_eq!(project.join("work.txt").exists(), !fails);
        git(&project, &["add", "new.txt"]);
        assert_eq!(porcelain(&project), ["A  new.txt"]);
    }
}

/// Proves H30 for a branch that an operation of Git's in the user's worktree has in its hands: `HEAD` doesn't name it then.
#[tokio::test]
async fn h30_a_branch_under_rebase_or_bisection_stays() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    git(project, &["branch", "base"]);
    write(&project.join("README.md"), "main's\n");
    scene.repository.commit_all("main's");
    git(project, &["branch", "stacked"]);
    write(&project.join("more.txt"), "more\n");
    scene.repository.commit_all("more");
    git(project, &["checkout", "-q", "base"]);
    write(&project.join("README.md"), "base's\n");
    scene.repository.commit_all("base's");
    git(project, &["checkout", "-q", "main"]);
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("new.txt"), "work\n");
    let begin: [(&[&str], &[&str], &[&str]); 4] = [
        (&["rebase", "base"], &["main"], &["rebase", "--abort"]),
        (
            &["rebase", "--apply", "base"],
            &["main"],
            &["rebase", "--abort"],
        ),
        (
            &["rebase", "--update-refs", "base"],
            &["stacked", "main"],
            &["rebase", "--abort"],
        ),
        (
            &["bisect", "start", "main", "main~2"],
            &["main"],
            &["bisect", "reset"],
        ),
    ];
    for (begin, branches, end) in begin {
        drop(try_git(project, begin));
        let name = try_git(project, &["symbolic-ref", "-q", "HEAD"]);
        assert!(!name.status.success(), "{begin:?} is not under way");
        let before = snapshot(project);
        for branch in branches {
            let failure = head.merge_into(*branch).await.unwrap_err();
            assert!(
                matches!(&failure, WorkspaceError::BranchInUse { branch: named, location, .. }
                    if named == branch && location == project),
                "{begin:?}: {failure:?}"
            );
        }
        assert_eq!(snapshot(project), before, "{begin:?}");
        git(project, end);
    }
    // In another worktree of the user's it is the same; once it has ended, the branch moves.
    let aside = scene.root.path().join("aside");
    git(
        project,
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "other",
            aside.to_str().unwrap(),
            "main",
        ],
    );
    drop(try_git(&aside, &["rebase", "base"]));
    let failure = head.merge_into("other").await.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::BranchInUse { .. }),
        "{failure:?}"
    );
    git(&aside, &["rebase", "--abort"]);
    head.merge_into("other").await.unwrap();
    assert_eq!(read(&aside.join("new.txt")), "work\n");
}

/// A branch that only stands for another one is told as that.
#[tokio::test]
async fn a_symbolic_branch_is_told_as_one() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    git(
        project,
        &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
    );
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("new.txt"), "work\n");
    let before = snapshot(project);
    let failure = head.merge_into("alias").await.unwrap_err();
    let WorkspaceError::UnknownRevision { revision, reason } = &failure else {
        panic!("{failure:?}")
    };
    assert_eq!(revision, "alias");
    assert!(reason.contains("refs/heads/main"), "{reason}");
    assert_eq!(snapshot(project), before);
    head.destroy().await.unwrap();
    // To read it is enough that it leads to a commit, as for Git.
    let head = scene.head("two").await;
    write(&project.join("main.txt"), "main's\n");
    scene.repository.commit_all("main's");
    head.update_from("alias").await.unwrap();
    assert_eq!(read(&scene.folder(&head).join("main.txt")), "main's\n");
}
