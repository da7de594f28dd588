//! A disk that is full in the middle of an operation: nothing is lost, and once there is space again it goes on.

use std::path::Path;

use everruns_core::workspace::{WorkspaceCheckpoint, WorkspaceError, WorkspaceHead};
use everruns_testkit::disks::SmallDisk;
use tempfile::TempDir;

use crate::fixture::{Repository, Scene, git, porcelain, read, try_git, write};

/// How much is left, so that the space runs out at different steps.
pub(crate) const LEFT: [u64; 6] = [0, 8_192, 24_576, 65_536, 131_072, 262_144];

/// A scene on `disk` whose head has work that no commit has.
pub(crate) async fn scene(disk: &SmallDisk) -> (Scene, WorkspaceHead) {
    let root = TempDir::new_in(disk.folder()).unwrap();
    let repository = Repository::small(&root.path().join("project"));
    write(
        &repository.path.join("large.txt"),
        &"a line\n".repeat(10_000),
    );
    repository.commit_all("large");
    let scene = Scene::around(root, repository);
    let head = scene.head("one").await;
    write(
        &scene.folder(&head).join("work.txt"),
        &"work\n".repeat(20_000),
    );
    write(&scene.folder(&head).join("README.md"), "changed\n");
    (scene, head)
}

/// The error says that there is no space; the head's work, and what Git says of it, is as before.
fn check(scene: &Scene, head: &WorkspaceHead, failure: Option<WorkspaceError>, what: &str) {
    if let Some(failure) = failure {
        assert!(
            matches!(failure, WorkspaceError::NoSpace { .. }),
            "{what}: {failure:?}"
        );
    }
    let folder = scene.folder(head);
    assert_eq!(
        porcelain(&folder),
        [" M README.md", "?? work.txt"],
        "{what}"
    );
    assert_eq!(read(&folder.join("work.txt")).len(), 100_000, "{what}");
    assert_eq!(read(&folder.join("README.md")), "changed\n", "{what}");
    git(&scene.repository.path, &["fsck", "--strict"]);
}

/// What is left apart from the head `one` and its finished companions.
pub(crate) async fn nothing_is_left_over(scene: &Scene, what: &str) {
    scene.trash_is_emptied().await;
    let report = scene.reopened().doctor(false).await.unwrap();
    assert!(report.findings.is_empty(), "{what}: {report:?}");
}

/// Proves H74 for making a head.
#[tokio::test]
async fn h74_create_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let workspace = scene.workspace().await;
        disk.fill(left);
        let outcome = workspace.head("two").create().await;
        let what = format!("create with {left} bytes left");
        let failed = outcome.is_err();
        disk.free();
        check(&scene, &head, outcome.err(), &what);
        scene.reopened();
        nothing_is_left_over(&scene, &what).await;
        if failed {
            workspace.head("two").create().await.unwrap();
        }
    }
}

/// Proves H74 for forks.
#[tokio::test]
async fn h74_fork_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        disk.fill(left);
        let outcome = head.fork("two").await;
        let what = format!("fork with {left} bytes left");
        let failed = outcome.is_err();
        disk.free();
        check(&scene, &head, outcome.err(), &what);
        scene.reopened();
        nothing_is_left_over(&scene, &what).await;
        if failed {
            let fork = head.fork("two").await.unwrap();
            assert_eq!(
                porcelain(&scene.folder(&fork)),
                porcelain(&scene.folder(&head))
            );
        }
    }
}

/// Proves H74 for checkpoints.
#[tokio::test]
async fn h74_checkpoint_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        disk.fill(left);
        let outcome = head.checkpoint().await;
        let what = format!("checkpoint with {left} bytes left");
        disk.free();
        check(&scene, &head, outcome.err(), &what);
        nothing_is_left_over(&scene, &what).await;
        let taken = head.checkpoint().await.unwrap();
        assert_eq!(taken.number, 1, "{what}");
        git(&scene.repository.path, &["fsck", "--strict"]);
    }
}

/// Proves H74 for restores: a failed one has changed nothing, and can be done again.
#[tokio::test]
async fn h74_restore_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let folder = scene.folder(&head);
        let first = head.checkpoint().await.unwrap();
        git(&folder, &["stash", "-u", "-q"]);
        write(&folder.join("later.txt"), &"later\n".repeat(10_000));
        disk.fill(left);
        let outcome = head.restore(&first).await;
        let what = format!("restore with {left} bytes left");
        if let Err(failure) = &outcome {
            assert!(
                matches!(failure, WorkspaceError::NoSpace { .. }),
                "{what}: {failure:?}"
            );
        }
        if outcome.is_err() {
            // Before there is space again, and before anybody opens the state.
            assert_eq!(read(&folder.join("later.txt")).len(), 60_000, "{what}");
            assert!(!folder.join("work.txt").exists(), "{what}");
            assert_eq!(read(&folder.join("README.md")), "# Project\n", "{what}");
            let intents = scene.state.join("intents");
            assert_eq!(intents.read_dir().unwrap().count(), 0, "{what}");
        }
        disk.free();
        if outcome.is_err() {
            assert_eq!(porcelain(&folder), ["?? later.txt"], "{what}");
            nothing_is_left_over(&scene, &what).await;
            head.restore(&first).await.unwrap();
        }
        check(&scene, &head, None, &what);
        nothing_is_left_over(&scene, &what).await;
        let kept = head.checkpoints().await.unwrap();
        let holds = |kept: &WorkspaceCheckpoint| {
            let name = format!("{}:later.txt", kept.revision);
            try_git(&folder, &["show", &name]).stdout.len() == 60_000
        };
        assert!(kept.iter().any(holds), "{what}: {kept:?}");
    }
}

/// Proves H74 for the end of a head: its work is under a reference, or it is still there.
#[tokio::test]
async fn h74_destroy_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        disk.fill(left);
        let outcome = head.destroy().await;
        let what = format!("destroy with {left} bytes left");
        disk.free();
        scene.reopened();
        if let Err(failure) = &outcome {
            assert!(
                matches!(failure, WorkspaceError::NoSpace { .. }),
                "{what}: {failure:?}"
            );
        }
        let receipt = head.destroy().await.unwrap();
        let kept = receipt.kept_ref.unwrap();
        let shown = git(
            &scene.repository.path,
            &["show", &format!("{kept}:work.txt")],
        );
        assert_eq!(shown.len(), 99_999, "{what}");
        nothing_is_left_over(&scene, &what).await;
    }
}

/// Proves H74 for forgetting checkpoints: those that stay are whole, and it can be done again.
#[tokio::test]
async fn h74_prune_on_a_full_disk() {
    for left in LEFT {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let folder = scene.folder(&head);
        let project = &scene.repository.path;
        for number in 1..=6 {
            write(&folder.join("README.md"), &format!("{number}\n"));
            head.checkpoint().await.unwrap();
            if number == 3 {
                // Those that are packed take a new file to go.
                git(project, &["pack-refs", "--all"]);
            }
        }
        write(&folder.join("README.md"), "changed\n");
        let before = head.checkpoints().await.unwrap();
        disk.fill(left);
        let outcome = head.prune_checkpoints(2).await;
        let what = format!("prune with {left} bytes left");
        disk.free();
        let failed = outcome.is_err();
        check(&scene, &head, outcome.err(), &what);
        let after = head.checkpoints().await.unwrap();
        assert!(after.ends_with(&before[4..]), "{what}: {after:?}");
        assert!(after.iter().all(|kept| before.contains(kept)), "{what}");
        assert!(failed || left > 0, "{what}");
        assert!(!failed || left < 262_144, "{what}");
        scene.reopened();
        nothing_is_left_over(&scene, &what).await;
        head.prune_checkpoints(2).await.unwrap();
        assert_eq!(head.checkpoints().await.unwrap(), before[4..], "{what}");
    }
}

/// Proves H74 for making a head that ignored files come along into: all or nothing.
#[tokio::test]
async fn h74_create_with_ignored_files_on_a_full_disk() {
    for left in [0, 131_072, 262_144, 393_216, 524_288] {
        let Some(disk) = SmallDisk::mount(4096) else {
            return;
        };
        let (scene, head) = scene(&disk).await;
        let project = &scene.repository.path;
        write(&project.join("ignored/cache"), &"cached\n".repeat(60_000));
        write(&project.join("ignored/deep/other"), "other\n");
        let workspace = scene.workspace().await;
        let create = async || {
            let new = workspace.head("two").include_ignored(["ignored/"]);
            new.create().await
        };
        disk.fill(left);
        let outcome = create().await;
        let what = format!("create with {left} bytes left");
        let failed = outcome.is_err();
        disk.free();
        check(&scene, &head, outcome.err(), &what);
        scene.reopened();
        nothing_is_left_over(&scene, &what).await;
        assert_eq!(
            workspace.heads().await.unwrap().len(),
            if failed { 1 } else { 2 },
            "{what}"
        );
        assert!(failed, "{what}: the file that comes along is larger");
        let two = create().await.unwrap();
        let folder = scene.folder(&two);
        assert_eq!(read(&folder.join("ignored/cache")).len(), 420_000);
        assert_eq!(read(&folder.join("ignored/deep/other")), "other\n");
    }
}

/// The file system that the tests mount is as small as they say.
#[test]
fn a_small_disk_is_small() {
    let Some(disk) = SmallDisk::mount(64) else {
        return;
    };
    disk.fill(0);
    let more = |folder: &Path| std::fs::write(folder.join("more"), [0; 8192]);
    assert!(more(&disk.folder()).is_err());
    disk.free();
    more(&disk.folder()).unwrap();
}

/// Where no disk can be mounted, these tests say so, and fail in CI.
#[test]
fn without_a_disk_of_their_own_these_tests_fail_in_ci() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for (ci, passes) in [(None, true), (Some("true"), false), (Some("1"), false)] {
        let mut child = everruns_testkit::ordinary::command(&program, folder.path()).unwrap();
        child
            .args(["full_disk::a_small_disk_is_small", "--exact"])
            .args(["--nocapture"])
            .env("TMPDIR", folder.path())
            .env_remove("CI");
        if let Some(ci) = ci {
            child.env("CI", ci);
        }
        let output = child.output().unwrap();
        assert_eq!(output.status.success(), passes, "CI: {ci:?}");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(words.contains("NOT TESTED"), passes, "{words}");
    }
}
