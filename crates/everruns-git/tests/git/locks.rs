//! Locks of Git's that somebody else holds, or held.

use std::path::{Path, PathBuf};

use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::failpoint;
use everruns_core::workspace::{CommitRequest, Workspace, WorkspaceError};

use crate::fixture::{Scene, backend, git, porcelain, read, write};

/// What a lock says that a process of ours took which is no more.
fn dead(lock: &str) -> String {
    let boot = "everruns holder 1\npid 1\nstart 1\nboot an-earlier-boot\nnamespace pid:[1]\n";
    format!("{boot}lock {lock}\n")
}

/// The lock of the next checkpoint of the head.
fn checkpoint_lock(scene: &Scene, head: &everruns_core::workspace::WorkspaceHead) -> PathBuf {
    let name = format!("refs/everruns/heads/{}/checkpoints/1.lock", head.id());
    let path = scene.repository.path.join(".git").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn expect_locked<T: std::fmt::Debug>(outcome: Result<T, WorkspaceError>) {
    let failure = outcome.unwrap_err();
    assert!(
        matches!(failure, WorkspaceError::HeadBusy { .. }),
        "{failure:?}"
    );
}

/// Proves H62 for locks of references: what says of itself that it is dead goes, and nothing else does.
#[tokio::test]
async fn h62_a_lock_of_a_reference_goes_only_if_it_is_proved_dead() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("draft.txt"), "draft\n");
    let lock = checkpoint_lock(&scene, &head);
    let name = lock
        .strip_prefix(scene.repository.path.join(".git"))
        .unwrap();
    let own = dead(name.to_str().unwrap());
    let others = [
        String::new(),
        git(&scene.repository.path, &["rev-parse", "HEAD"]),
        own.replace("an-earlier-boot", ""),
        own.replace("holder 1", "holder 2"),
        own.trim_end().to_owned(),
        dead("../../outside.lock"),
    ];
    for other in others {
        write(&lock, &other);
        expect_locked(head.checkpoint().await);
        scene.reopened();
        assert_eq!(read(&lock), other, "it is left alone");
        let found = scene.backend.doctor(true).await.unwrap().findings;
        let told: Vec<_> = found
            .iter()
            .map(|found| (found.kind.as_str(), found.repairable))
            .collect();
        assert_eq!(told, [("reference-lock", false)], "{other:?}");
        assert_eq!(read(&lock), other, "by the doctor as well");
    }
    write(&lock, &own);
    let kept = head.checkpoint().await.unwrap();
    assert_eq!(kept.number, 1);
    assert!(!lock.exists());
    let reference = kept.location.unwrap();
    git(
        &scene.folder(&head),
        &["rev-parse", "--verify", "--quiet", &reference],
    );
}

/// The same for the lock of the packed references, for branches, and for the lock that Git takes on an index.
#[tokio::test]
async fn h60_h64_locks_of_others_are_waited_for_and_left() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let branch = head.descriptor().branch.clone().unwrap();
    for number in 0..3 {
        write(&folder.join("work.txt"), &format!("{number}\n"));
        head.checkpoint().await.unwrap();
    }
    git(project, &["branch", "target"]);
    git(project, &["pack-refs", "--all"]);
    let at = |name: &str| project.join(".git").join(name);

    let packed = at("packed-refs.lock");
    write(&packed, "");
    expect_locked(head.prune_checkpoints(1).await);
    assert_eq!(head.checkpoints().await.unwrap().len(), 3, "all or none");
    assert_eq!(read(&packed), "");
    write(&packed, &dead("packed-refs.lock"));
    assert_eq!(head.prune_checkpoints(1).await.unwrap().removed.len(), 2);
    assert!(!packed.exists());
    git(project, &["fsck", "--strict"]);

    let target = at("refs/heads/target.lock");
    write(&target, "");
    expect_locked(head.merge_into("target").await);
    assert_eq!(git(project, &["rev-parse", "target"]), head.base());
    write(&target, &dead("refs/heads/target.lock"));
    head.merge_into("target").await.unwrap();
    assert!(!target.exists());
    assert_eq!(git(project, &["show", "target:work.txt"]), "2");

    let own = at(&format!("refs/heads/{branch}.lock"));
    write(&own, "");
    let status = porcelain(&folder);
    expect_locked(head.commit(CommitRequest::new("work")).await);
    assert_eq!(porcelain(&folder), status, "nothing is changed");
    write(&own, &dead(&format!("refs/heads/{branch}.lock")));
    head.commit(CommitRequest::new("work")).await.unwrap();
    assert!(porcelain(&folder).is_empty());
}

/// What a repository brings along can't make us delete anything outside of its references.
#[tokio::test]
async fn h20_planted_notes_of_dead_processes_reach_nothing_else() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let own = scene.repository.path.join(".git/refs/everruns");
    std::fs::create_dir_all(&own).unwrap();
    let victim = scene.root.path().join("victim.lock");
    let config = scene.repository.path.join(".git/config");
    let before = read(&config);
    let named = [
        "../../victim.lock",
        "config",
        "refs/../config",
        "/etc/passwd.lock",
        "refs/heads/main",
    ];
    for (number, name) in named.iter().enumerate() {
        let text = dead(name);
        write(&victim, &text);
        write(&own.join(format!("held-1-{number}.lock")), &text);
    }
    // A note about the user's own branch, which somebody else has locked in the meantime.
    let held = scene.repository.path.join(".git/refs/heads/main.lock");
    write(&held, "");
    write(&own.join("held-1-9.lock"), &dead("refs/heads/main.lock"));
    scene.reopened();
    scene.backend.doctor(true).await.unwrap();
    assert!(victim.exists());
    assert_eq!(read(&config), before);
    assert_eq!(read(&held), "", "it is another's");
    assert!(
        !own.join("held-1-9.lock").exists(),
        "the note has no use any more"
    );
    assert!(!scene.repository.path.join(".git/refs/heads/main").is_dir());
    head.checkpoint().await.unwrap();
    assert!(Path::new(&victim).exists());
}

/// References as git has them after each of our edits: packed or not, in folders or not.
#[tokio::test]
async fn references_are_edited_as_git_does_it() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let list = || {
        git(
            project,
            &["for-each-ref", "--format=%(refname) %(objectname)"],
        )
    };
    git(project, &["tag", "-a", "-m", "annotated", "v1"]);
    git(project, &["branch", "target"]);
    git(project, &["pack-refs", "--all"]);
    let before = list();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("work.txt"), "work\n");
    head.merge_into("target").await.unwrap();
    let log = git(project, &["reflog", "show", "--format=%gs", "target"]);
    assert!(log.starts_with("everruns: merge head"), "{log}");
    head.commit(CommitRequest::new("work")).await.unwrap();
    let branch = head.descriptor().branch.clone().unwrap();
    let log = git(project, &["reflog", "show", "--format=%gs", &branch]);
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        ["everruns: commit: work", "everruns: create head"]
    );
    git(project, &["pack-refs", "--all"]);
    // Back to where the branch began, and forward again, from packed to loose.
    let receipt = head.checkpoint().await.unwrap();
    git(&folder, &["reset", "-q", "--hard", head.base()]);
    head.restore(&receipt).await.unwrap();
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), receipt.revision);
    head.destroy().await.unwrap();
    git(project, &["branch", "-q", "-D", &branch]);
    git(project, &["update-ref", "-d", "refs/heads/target"]);
    let ours = list();
    let kept: Vec<&str> = ours
        .lines()
        .filter(|line| !line.starts_with("refs/everruns/"))
        .collect();
    let expected: Vec<&str> = before
        .lines()
        .filter(|line| !line.starts_with("refs/heads/target"))
        .collect();
    assert_eq!(kept, expected);
    git(project, &["fsck", "--strict"]);
}

/// An editor that looks at the status holds the lock of the index for a moment: it is waited for. One that keeps it is
/// told of before anything is changed.
#[tokio::test]
async fn an_index_lock_is_waited_for_before_anything_changes() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let first = head.checkpoint().await.unwrap();
    let own = PathBuf::from(git(&folder, &["rev-parse", "--absolute-git-dir"]));
    let (own, users) = (own.join("index.lock"), project.join(".git/index.lock"));
    let briefly = |lock: &Path| {
        let lock = lock.to_owned();
        write(&lock, "");
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(150));
            std::fs::remove_file(&lock).unwrap();
        })
    };
    write(&folder.join("work.txt"), "work\n");
    let status = porcelain(&folder);
    write(&own, "");
    expect_locked(head.restore(&first).await);
    expect_locked(head.commit(CommitRequest::new("work")).await);
    assert_eq!(read(&own), "");
    assert_eq!(porcelain(&folder), status);
    assert_eq!(scene.state.join("intents").read_dir().unwrap().count(), 0);
    std::fs::remove_file(&own).unwrap();

    let editor = briefly(&own);
    head.commit(CommitRequest::new("work")).await.unwrap();
    editor.join().unwrap();
    let editor = briefly(&users);
    head.merge_into("main").await.unwrap();
    editor.join().unwrap();
    assert_eq!(read(&project.join("work.txt")), "work\n");
    let editor = briefly(&own);
    head.restore(&first).await.unwrap();
    editor.join().unwrap();
    assert!(porcelain(&folder).is_empty() && !folder.join("work.txt").exists());
}

/// Two state folders want the lock of a user's own index at once: neither takes the other's word for its own.
#[tokio::test]
async fn h52_two_state_folders_take_turns_at_a_users_index() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("one.txt"), "one\n");
    let state = scene.root.path().join("other");
    let other = Workspace::open(backend(&state), project.to_str().unwrap())
        .await
        .unwrap()
        .head("two")
        .create()
        .await
        .unwrap();
    let files = state
        .join("worktrees")
        .join(other.workspace_id().as_str())
        .join(other.id().as_str());
    write(&files.join("two.txt"), "two\n");
    let (first, git_dir) = (AtomicBool::new(true), project.join(".git"));
    let at = git_dir.clone();
    failpoint::arm("git.index.after-announcement", move || {
        if first.swap(false, Ordering::Relaxed) {
            assert_eq!(held(&at), 1);
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            runtime.block_on(other.merge_into("main")).unwrap();
            assert_eq!(held(&at), 1, "the first one's is still there");
        }
        true
    });
    head.merge_into("main").await.unwrap();
    failpoint::disarm_all();
    assert_eq!(held(&git_dir), 0);
    assert!(!git_dir.join("index.lock").exists());
    assert!(porcelain(project).is_empty());
    assert_eq!(git(project, &["show", "main:one.txt"]), "one");
    assert_eq!(git(project, &["show", "main:two.txt"]), "two");
}

/// How many files in `git_dir` say who is about to take the lock of the index.
fn held(git_dir: &Path) -> usize {
    let names = git_dir.read_dir().unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("index.held-")).count()
}
