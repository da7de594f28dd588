//! A branch brought into a head.

use everruns_core::workspace::{
    CommitRequest, EntryState, UpdateOutcome, WorkspaceError, WorkspaceHead,
};

use crate::fixture::{Scene, git, porcelain, read, snapshot, told, write};

/// Commits `content` at `path` on `main`, in the user's worktree.
fn on_main(scene: &Scene, path: &str, content: &str) -> String {
    write(&scene.repository.path.join(path), content);
    scene.repository.commit_all("on main")
}

async fn committed(scene: &Scene, head: &WorkspaceHead, path: &str, content: &str) {
    write(&scene.folder(head).join(path), content);
    head.commit(CommitRequest::new("in the head"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_head_without_commits_goes_forward_and_keeps_what_is_not_committed() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    assert_eq!(
        head.update_from("main").await.unwrap(),
        UpdateOutcome::UpToDate
    );
    let tip = on_main(&scene, "fresh.txt", "fresh\n");
    write(&folder.join("README.md"), "# Local\n");
    write(&folder.join("local.txt"), "local\n");
    git(&folder, &["add", "local.txt"]);
    let outcome = head.update_from("main").await.unwrap();
    assert_eq!(
        outcome,
        UpdateOutcome::FastForwarded {
            revision: tip.clone()
        }
    );
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), tip);
    assert_eq!(read(&folder.join("fresh.txt")), "fresh\n");
    assert_eq!(porcelain(&folder), [" M README.md", "A  local.txt"]);
    assert_eq!(
        head.update_from("main").await.unwrap(),
        UpdateOutcome::UpToDate
    );
}

#[tokio::test]
async fn both_sides_are_joined() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    committed(&scene, &head, "mine.txt", "mine\n").await;
    let tip = on_main(&scene, "theirs.txt", "theirs\n");
    write(&folder.join("README.md"), "# Local\n");
    let outside = snapshot(&scene.repository.path);
    let outcome = head.update_from("main").await.unwrap();
    let UpdateOutcome::Merged { revision } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), revision);
    assert_eq!(git(&folder, &["rev-parse", "HEAD^2"]), tip);
    assert_eq!(read(&folder.join("theirs.txt")), "theirs\n");
    assert_eq!(porcelain(&folder), [" M README.md"]);
    assert_eq!(snapshot(&scene.repository.path), outside);
    let branch = head.descriptor().branch.clone().unwrap();
    assert_eq!(
        git(&folder, &["log", "-1", "--format=%s"]),
        format!("Merge branch 'main' into {branch}")
    );
}

#[tokio::test]
async fn what_would_be_overwritten_is_named_and_stays() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    on_main(&scene, "README.md", "# Theirs\n");
    on_main(&scene, "fresh.txt", "fresh\n");
    on_main(&scene, "quiet.txt", "fresh\n");
    let files = async || match head.update_from("main").await {
        Err(WorkspaceError::LocalChanges { files, .. }) => files,
        other => panic!("{other:?}"),
    };
    write(&folder.join("README.md"), "# Local\n");
    let before = porcelain(&folder);
    assert_eq!(files().await, ["README.md"]);
    assert_eq!(porcelain(&folder), before);
    git(&folder, &["add", "README.md"]);
    assert_eq!(files().await, ["README.md"]);
    git(&folder, &["reset", "-q", "--hard"]);
    write(&folder.join("fresh.txt"), "local\n");
    assert_eq!(files().await, ["fresh.txt"]);
    std::fs::remove_file(folder.join("fresh.txt")).unwrap();
    // Git would write over an ignored file; here it stays.
    write(
        &scene.repository.path.join(".git/info/exclude"),
        "quiet.txt\n",
    );
    write(&folder.join("quiet.txt"), "ignored\n");
    assert_eq!(files().await, ["quiet.txt"]);
    assert_eq!(read(&folder.join("quiet.txt")), "ignored\n");
    std::fs::remove_file(folder.join("quiet.txt")).unwrap();
    head.update_from("main").await.unwrap();
    // A merge wants nothing staged at all.
    committed(&scene, &head, "mine.txt", "mine\n").await;
    on_main(&scene, "more.txt", "more\n");
    write(&folder.join("staged.txt"), "staged\n");
    git(&folder, &["add", "staged.txt"]);
    assert_eq!(files().await, ["staged.txt"]);
}

#[tokio::test]
async fn conflicts_are_left_as_git_leaves_them() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    committed(&scene, &head, "README.md", "# Mine\n").await;
    on_main(&scene, "clean.txt", "clean\n");
    let tip = on_main(&scene, "README.md", "# Theirs\n");
    let twin = scene.root.path().join("twin");
    let args = ["worktree", "add", "-q", "--detach", twin.to_str().unwrap()];
    git(&folder, &args);
    let outcome = head.update_from("main").await.unwrap();
    let UpdateOutcome::Conflicts(conflicts) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].path, "README.md");
    let content = |side: &Option<everruns_core::workspace::ConflictSide>| {
        git(
            &folder,
            &["cat-file", "blob", &side.clone().unwrap().revision],
        )
    };
    assert_eq!(content(&conflicts[0].ours), "# Mine");
    assert_eq!(content(&conflicts[0].theirs), "# Theirs");

    assert!(
        !crate::fixture::try_git(&twin, &["merge", "main"])
            .status
            .success()
    );
    assert_eq!(
        read(&folder.join("README.md")),
        read(&twin.join("README.md"))
    );
    for args in [
        &["ls-files", "-s"][..],
        &["status", "--porcelain=v2"],
        &["rev-parse", "MERGE_HEAD"],
    ] {
        assert_eq!(git(&folder, args), git(&twin, args), "{args:?}");
    }
    let status = head.status().await.unwrap();
    assert!(status.conflicted);
    assert_eq!(told(&status), porcelain(&folder));
    assert!(
        status
            .entries
            .iter()
            .any(|entry| entry.unstaged == EntryState::Unmerged)
    );

    for failure in [
        head.update_from("main").await.map(drop).unwrap_err(),
        head.commit(CommitRequest::new("x"))
            .await
            .map(drop)
            .unwrap_err(),
    ] {
        assert!(
            matches!(&failure, WorkspaceError::Conflicted { files, .. } if files == &["README.md"]),
            "{failure:?}"
        );
    }
    write(&folder.join("README.md"), "# Both\n");
    let request = CommitRequest {
        resolve_conflicts: true,
        ..CommitRequest::default()
    };
    let receipt = head.commit(request).await.unwrap();
    assert!(porcelain(&folder).is_empty());
    assert_eq!(git(&folder, &["rev-parse", "HEAD^2"]), tip);
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), receipt.revision);
    assert!(
        !crate::fixture::try_git(&folder, &["rev-parse", "-q", "--verify", "MERGE_HEAD"])
            .status
            .success()
    );
    git(&folder, &["fsck", "--strict"]);
}

/// A merge that we began is concluded, or aborted, by Git's own commands.
#[tokio::test]
async fn git_itself_concludes_and_aborts_the_merge() {
    for conclude in [true, false] {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        committed(&scene, &head, "README.md", "# Mine\n").await;
        on_main(&scene, "README.md", "# Theirs\n");
        let before = git(&folder, &["rev-parse", "HEAD"]);
        head.update_from("main").await.unwrap();
        if conclude {
            write(&folder.join("README.md"), "# Both\n");
            git(&folder, &["add", "README.md"]);
            git(&folder, &["commit", "-q", "--no-edit"]);
            assert_eq!(git(&folder, &["rev-parse", "HEAD^1"]), before);
            let subject = git(&folder, &["log", "-1", "--format=%s"]);
            assert!(
                subject.starts_with("Merge branch 'main' into "),
                "{subject}"
            );
        } else {
            git(&folder, &["merge", "--abort"]);
            assert_eq!(git(&folder, &["rev-parse", "HEAD"]), before);
        }
        assert!(porcelain(&folder).is_empty());
    }
}

/// A file that was changed in the moment in which its index was written looks unchanged, once a newer index vouches for
/// it; so none does.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the real git dates the index by the host's clock"
)]
async fn c09_a_file_as_young_as_its_index_is_still_seen_to_be_changed() {
    let scene = Scene::new();
    let project = scene.repository.path.clone();
    git(&project, &["config", "core.trustctime", "false"]);
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let file = folder.join("young.txt");
    // Without fractions, which not every disk keeps.
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    let moment = std::time::UNIX_EPOCH + std::time::Duration::from_secs(since.as_secs() + 2);
    let write_then = |content: &str| {
        write(&file, content);
        let opened = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        opened.set_modified(moment).unwrap();
    };
    write_then("one\n");
    git(&folder, &["add", "young.txt"]);
    git(&folder, &["commit", "-qm", "young"]);
    write_then("two\n");
    assert_eq!(porcelain(&folder), [" M young.txt"]);
    write(&project.join("other.txt"), "other\n");
    scene.repository.commit_all("other");
    while std::time::SystemTime::now() < moment + std::time::Duration::from_millis(50) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    head.update_from("main").await.unwrap();
    assert_eq!(porcelain(&folder), [" M young.txt"]);
    assert!(head.status().await.unwrap().dirty);
}

/// The same for a Git that only looks at seconds: an edit of the same size, within the second in which the index was
/// written.
#[tokio::test]
async fn c09_an_edit_within_the_second_of_its_index_is_still_seen() {
    let scene = Scene::new();
    let project = scene.repository.path.clone();
    git(&project, &["config", "core.trustctime", "false"]);
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let (file, index) = (
        folder.join("young.txt"),
        git(&folder, &["rev-parse", "--git-path", "index"]),
    );
    let index = folder.join(index);
    let second = |path: &std::path::Path| {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).unwrap().mtime()
    };
    // Until all of it falls into one second.
    for number in 100.. {
        write(&file, &format!("one {number}\n"));
        let noted = second(&file);
        git(&folder, &["add", "young.txt"]);
        git(&folder, &["commit", "-qm", "young"]);
        write(&file, &format!("two {number}\n"));
        if noted == second(&index) && noted == second(&file) {
            break;
        }
    }
    write(&project.join("other.txt"), "other\n");
    scene.repository.commit_all("other");
    let begun = second(&index);
    loop {
        head.update_from("main").await.unwrap();
        assert_eq!(porcelain(&folder), [" M young.txt"]);
        if second(&index) > begun {
            break;
        }
        write(
            &project.join("other.txt"),
            &format!("{:?}\n", std::time::Instant::now()),
        );
        scene.repository.commit_all("other");
    }
}

/// A head that has gone back to before a merge is in no merge: its next commit would say that the branch is in it,
/// though its changes are gone. One that is brought to the middle of a merge concludes it, and so does a fork.
#[tokio::test]
async fn a_restore_leaves_no_merge_and_brings_one_back() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    committed(&scene, &head, "README.md", "# Mine\n").await;
    let tip = on_main(&scene, "README.md", "# Theirs\n");
    let mine = git(&folder, &["rev-parse", "HEAD"]);
    let before = head.checkpoint().await.unwrap();
    let outcome = head.update_from("main").await.unwrap();
    assert!(matches!(outcome, UpdateOutcome::Conflicts(_)));
    let merges = |folder: &std::path::Path| {
        let verify = ["rev-parse", "-q", "--verify", "MERGE_HEAD"];
        let found = crate::fixture::try_git(folder, &verify).stdout;
        String::from_utf8(found).unwrap().trim().to_owned()
    };
    let message = git(&folder, &["rev-parse", "--git-path", "MERGE_MSG"]);
    let message = folder.join(message);
    let mut told = std::fs::read(&message).unwrap();
    told.extend_from_slice(b"\nin Latin-1: \xE4, and 100%\n");
    std::fs::write(&message, &told).unwrap();
    let message = told;
    let status = porcelain(&folder);
    let within = head.checkpoint().await.unwrap();

    head.restore(&before).await.unwrap();
    assert_eq!(
        (porcelain(&folder), merges(&folder)),
        (vec![], String::new())
    );
    write(&folder.join("next.txt"), "next\n");
    head.commit(CommitRequest::new("next")).await.unwrap();
    assert_eq!(git(&folder, &["rev-parse", "HEAD^@"]), mine, "no merge");

    head.restore(&within).await.unwrap();
    let fork = head.fork("fork").await.unwrap();
    for (head, folder) in [(&head, folder.clone()), (&fork, scene.folder(&fork))] {
        assert_eq!(
            (porcelain(&folder), merges(&folder)),
            (status.clone(), tip.clone())
        );
        let kept = git(&folder, &["rev-parse", "--git-path", "MERGE_MSG"]);
        assert_eq!(std::fs::read(folder.join(kept)).unwrap(), message);
        write(&folder.join("README.md"), "# Both\n");
        let request = CommitRequest {
            resolve_conflicts: true,
            ..CommitRequest::default()
        };
        head.commit(request).await.unwrap();
        let parents = format!("{mine}\n{tip}");
        assert_eq!(git(&folder, &["rev-parse", "HEAD^@"]), parents);
        assert_eq!(merges(&folder), "");
        git(&folder, &["fsck", "--strict"]);
    }
    // What the merge brings is kept with the checkpoint, whatever becomes of its branch.
    git(
        &scene.repository.path,
        &["update-ref", "-d", "refs/heads/main"],
    );
    let kept = within.location.unwrap();
    let leads = ["merge-base", "--is-ancestor", &tip, &kept];
    assert!(crate::fixture::try_git(&folder, &leads).status.success());
}
