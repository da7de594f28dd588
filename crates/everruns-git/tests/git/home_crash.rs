//! Commits, updates and merges killed between any two steps.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use everruns_core::failpoint;
use everruns_core::workspace::{CommitRequest, Workspace, WorkspaceHead};

use crate::fixture::{Scene, backend, git, porcelain, read, try_git, write};

const OPERATION: &str = "EVERRUNS_GIT_HOME_OPERATION";
const FAILPOINT: &str = "EVERRUNS_GIT_HOME_FAILPOINT";
const STATE: &str = "EVERRUNS_GIT_HOME_STATE";
const LOCATOR: &str = "EVERRUNS_GIT_HOME_LOCATOR";

/// Runs `operation` on the head named `one` in a child that is killed at `failpoint`.
#[expect(
    clippy::disallowed_methods,
    reason = "the child to be killed is this test binary itself"
)]
fn killed(scene: &Scene, operation: &str, failpoint: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["home_crash::child", "--exact", "--nocapture"])
        .env(OPERATION, operation)
        .env(FAILPOINT, failpoint)
        .env(STATE, &scene.state)
        .env(LOCATOR, &scene.repository.path)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        output.status.signal(),
        Some(9),
        "{operation} reaches {failpoint}: {words}"
    );
}

/// Not a test of its own: what the children of the others run.
#[tokio::test]
async fn child() {
    let Some(failpoint) = std::env::var_os(FAILPOINT) else {
        return;
    };
    failpoint::arm(failpoint.to_str().unwrap(), || {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        true
    });
    let path = |name: &str| std::env::var(name).unwrap();
    let workspace = Workspace::open(backend(Path::new(&path(STATE))), path(LOCATOR))
        .await
        .unwrap();
    let head = one(&workspace).await;
    match path(OPERATION).as_str() {
        "commit" => drop(head.commit(request()).await.unwrap()),
        "update" => drop(head.update_from("main").await.unwrap()),
        "merge" => drop(head.merge_into("main").await.unwrap()),
        other => panic!("{other}"),
    }
}

fn request() -> CommitRequest {
    CommitRequest {
        resolve_conflicts: true,
        ..CommitRequest::new("killed")
    }
}

async fn one(workspace: &Workspace) -> WorkspaceHead {
    let heads = workspace.heads().await.unwrap();
    let head = heads.iter().find(|head| head.name.as_str() == "one");
    workspace.open_head(&head.unwrap().id).await.unwrap()
}

/// The head as the next process finds it.
async fn reopened(scene: &Scene) -> WorkspaceHead {
    let locator = scene.repository.path.to_str().unwrap();
    let workspace = Workspace::open(scene.reopened(), locator).await.unwrap();
    let left = scene.state.join("intents").read_dir().unwrap().count();
    assert_eq!(left, 0, "no intent is left");
    one(&workspace).await
}

/// Nothing that keeps Git's own tools from working is left at `git_dir`, nor what becomes an index.
fn expect_no_locks(folder: &Path) {
    let git_dir = PathBuf::from(git(folder, &["rev-parse", "--absolute-git-dir"]));
    for entry in git_dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let end = path.extension().unwrap_or_default();
        assert!(end != "lock" && end != "everruns", "{}", path.display());
    }
}

/// The steps within one of them: writing an index.
const INDEX: [&str; 3] = [
    "git.index.after-lock",
    "git.index.after-temporary",
    "git.index.after-replacement",
];

const STEPS: [&str; 6] = [
    "git.advance.after-intent",
    "git.advance.after-files",
    "git.advance.after-index",
    "git.advance.after-flush",
    "git.advance.after-branch",
    "git.advance.after-notes",
];

/// A killed commit is there or not, and can be done again.
#[tokio::test]
async fn a_killed_commit_is_finished_or_never_was() {
    let before = [
        "git.commit.after-trees",
        "git.commit.after-commit",
        "git.commit.after-flush",
    ];
    for failpoint in before.into_iter().chain(STEPS).chain(INDEX) {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("README.md"), "# Staged\n");
        git(&folder, &["add", "README.md"]);
        write(&folder.join("work.txt"), "work\n");
        killed(&scene, "commit", failpoint);
        assert_eq!(read(&folder.join("work.txt")), "work\n");
        let again = reopened(&scene).await;
        if before.contains(&failpoint) {
            assert_eq!(porcelain(&folder), ["M  README.md", "?? work.txt"]);
            again.commit(request()).await.unwrap();
        }
        assert!(porcelain(&folder).is_empty(), "{failpoint}");
        assert_eq!(git(&folder, &["log", "-1", "--format=%s"]), "killed");
        assert_eq!(git(&folder, &["rev-parse", "HEAD^"]), head.base());
        expect_no_locks(&folder);
        git(&folder, &["fsck", "--strict"]);
    }
}

/// A killed conclusion of a merge leaves no merge behind that is concluded already, and loses none that is not.
#[tokio::test]
async fn a_killed_conclusion_of_a_merge_is_finished() {
    let before = [
        "git.commit.after-trees",
        "git.commit.after-commit",
        "git.commit.after-flush",
    ];
    for failpoint in before.into_iter().chain(STEPS) {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("README.md"), "# Mine\n");
        head.commit(CommitRequest::new("mine")).await.unwrap();
        write(&scene.repository.path.join("README.md"), "# Theirs\n");
        let tip = scene.repository.commit_all("theirs");
        head.update_from("main").await.unwrap();
        write(&folder.join("README.md"), "# Both\n");
        killed(&scene, "commit", failpoint);
        let again = reopened(&scene).await;
        if before.contains(&failpoint) {
            assert_eq!(porcelain(&folder), ["UU README.md"], "{failpoint}");
            assert_eq!(git(&folder, &["rev-parse", "MERGE_HEAD"]), tip);
            again.commit(request()).await.unwrap();
        }
        assert!(porcelain(&folder).is_empty(), "{failpoint}");
        assert_eq!(read(&folder.join("README.md")), "# Both\n");
        assert_eq!(git(&folder, &["rev-parse", "HEAD^2"]), tip);
        let verify = ["rev-parse", "-q", "--verify", "MERGE_HEAD"];
        assert!(!try_git(&folder, &verify).status.success(), "{failpoint}");
    }
}

/// A killed update is finished, with the conflicts or without.
#[tokio::test]
async fn a_killed_update_is_finished() {
    let before = ["git.update.after-commit", "git.update.after-flush"];
    let steps = before.into_iter().chain(STEPS);
    let steps = steps.chain(["git.advance.after-removals"]);
    for (failpoint, conflict) in steps.flat_map(|step| [(step, true), (step, false)]) {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        let path = if conflict { "README.md" } else { "mine.txt" };
        write(&folder.join(path), "# Mine\n");
        head.commit(CommitRequest::new("mine")).await.unwrap();
        write(&folder.join("work.txt"), "work\n");
        write(&scene.repository.path.join("README.md"), "# Theirs\n");
        write(&scene.repository.path.join("src/fresh.txt"), "fresh\n");
        std::fs::remove_file(scene.repository.path.join("src/two.rs")).unwrap();
        let tip = scene.repository.commit_all("theirs");
        killed(&scene, "update", failpoint);
        let again = reopened(&scene).await;
        if before.contains(&failpoint) {
            assert_eq!(porcelain(&folder), ["?? work.txt"], "{failpoint}");
            again.update_from("main").await.unwrap();
        }
        if conflict {
            let expected = [
                "UU README.md",
                "A  src/fresh.txt",
                "D  src/two.rs",
                "?? work.txt",
            ];
            assert_eq!(porcelain(&folder), expected, "{failpoint}");
            assert!(
                read(&folder.join("README.md")).contains("<<<<<<< HEAD"),
                "{failpoint}"
            );
            assert_eq!(git(&folder, &["rev-parse", "MERGE_HEAD"]), tip);
            git(&folder, &["merge", "--abort"]);
            assert_eq!(porcelain(&folder), ["?? work.txt"], "{failpoint}");
        } else {
            assert_eq!(porcelain(&folder), ["?? work.txt"], "{failpoint}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD^2"]), tip);
        }
    }
}

/// The user's own worktree is at the old or the new commit after a killed merge, never between.
#[tokio::test]
async fn h30_a_killed_merge_into_a_checked_out_branch_is_finished() {
    let before = [
        "git.merge.after-work",
        "git.merge.after-commit",
        "git.merge.after-flush",
    ];
    let steps = before.into_iter().chain(STEPS).chain(INDEX);
    for failpoint in steps.chain(["git.advance.after-removals"]) {
        let scene = Scene::new();
        let project = &scene.repository.path;
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("README.md"), "# Work\n");
        write(&folder.join("src/fresh.txt"), "fresh\n");
        std::fs::remove_file(folder.join("src/two.rs")).unwrap();
        write(&project.join("own.txt"), "the user's\n");
        let at = git(project, &["rev-parse", "main"]);
        killed(&scene, "merge", failpoint);
        let again = reopened(&scene).await;
        assert_eq!(porcelain(project), ["?? own.txt"], "{failpoint}");
        if before.contains(&failpoint) {
            assert_eq!(git(project, &["rev-parse", "main"]), at);
            again.merge_into("main").await.unwrap();
        }
        assert_eq!(git(project, &["rev-parse", "main^1"]), at, "{failpoint}");
        assert_eq!(read(&project.join("README.md")), "# Work\n");
        assert_eq!(porcelain(project), ["?? own.txt"], "{failpoint}");
        expect_no_locks(project);
    }
}

/// A process killed while it was about to take the lock of an index leaves nothing there.
#[tokio::test]
async fn h30_who_was_about_to_lock_an_index_leaves_nothing() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("work.txt"), "work\n");
    killed(&scene, "merge", "git.index.after-announcement");
    let announced = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.unwrap().file_name();
        name.to_str().unwrap().starts_with("index.held-")
    };
    let git_dir = project.join(".git");
    assert_eq!(
        git_dir
            .read_dir()
            .unwrap()
            .filter_map(|entry| announced(entry).then_some(()))
            .count(),
        1
    );
    let again = reopened(&scene).await;
    expect_no_locks(project);
    again.merge_into("main").await.unwrap();
    expect_no_locks(project);
}

/// Files don't go back under a branch that can't be read and may have moved; the next open finds out.
#[tokio::test]
async fn nothing_is_undone_under_a_branch_that_cant_be_read() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    write(&scene.folder(&head).join("README.md"), "# Work\n");
    let branch = project.join(".git/refs/heads/main");
    let aside = scene.root.path().join("aside");
    let (from, to) = (branch.clone(), aside.clone());
    failpoint::arm("git.advance.after-branch", move || {
        std::fs::rename(&from, &to).unwrap();
        std::fs::write(&from, "not a reference\n").unwrap();
        false
    });
    assert!(head.merge_into("main").await.is_err());
    failpoint::disarm_all();
    assert_eq!(read(&project.join("README.md")), "# Work\n");
    std::fs::rename(&aside, &branch).unwrap();
    assert!(
        porcelain(project).is_empty(),
        "index and files are the new ones"
    );
    let intents = scene.state.join("intents");
    assert_eq!(intents.read_dir().unwrap().count(), 1, "it is left");
    reopened(&scene).await;
    assert!(porcelain(project).is_empty());
    assert_eq!(git(project, &["show", "main:README.md"]), "# Work");
}

/// What somebody has changed since the crash is left alone, and the rest is undone.
#[tokio::test]
async fn a_killed_merge_is_undone_around_later_changes() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("README.md"), "# Work\n");
    write(&folder.join("src/fresh.txt"), "fresh\n");
    let at = git(project, &["rev-parse", "main"]);
    killed(&scene, "merge", "git.advance.after-index");
    write(&project.join("README.md"), "# The user's own\n");
    reopened(&scene).await;
    assert_eq!(git(project, &["rev-parse", "main"]), at);
    assert_eq!(porcelain(project), [" M README.md"]);
    assert_eq!(read(&project.join("README.md")), "# The user's own\n");
}

/// A step that fails is undone at once.
#[tokio::test]
async fn a_failed_step_is_undone() {
    for failpoint in &STEPS[..4] {
        let scene = Scene::new();
        let project = &scene.repository.path;
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("README.md"), "# Work\n");
        write(&folder.join("src/fresh.txt"), "fresh\n");
        std::fs::remove_file(folder.join("src/two.rs")).unwrap();
        failpoint::arm(*failpoint, || false);
        assert!(head.merge_into("main").await.is_err());
        assert!(porcelain(project).is_empty(), "{failpoint}");
        let kept = porcelain(&folder);
        assert!(head.commit(request()).await.is_err());
        assert_eq!(porcelain(&folder), kept, "{failpoint}");
        failpoint::disarm_all();
        assert!(
            scene
                .state
                .join("intents")
                .read_dir()
                .unwrap()
                .next()
                .is_none()
        );
        head.merge_into("main").await.unwrap();
    }
}
