//! Links and moves between two trees, stopped, failed and killed at their steps.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everruns_core::failpoint;
use everruns_core::file_system::{
    ContentVersion, FileMode, FileSystemError, LinkTarget, Precondition, Replace,
    SessionFileSystem as _,
};
use everruns_core::path::RootName;
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{MountedFileSystem, RootAccess, WorkspaceRootSet};

use crate::steps::ARMED;
use crate::support::{Fixture, each_resolution, open, path, snapshot};

/// Every step of making a link in the place of a file, and whether it is made when a process is killed at it.
const STEPS: [(&str, bool); 8] = [
    ("fs.link.before-lock", false),
    ("fs.link.after-check", false),
    ("fs.link.after-note", false),
    ("fs.link.after-temp", false),
    ("fs.write.before-exchange", false),
    ("fs.write.after-exchange", true),
    ("fs.link.after-rename", true),
    ("fs.link.after-folder-flush", true),
];

/// The steps at which a move between two trees is killed.
const MOVE_STEPS: [&str; 10] = [
    "fs.write.after-note",
    "fs.write.after-temp",
    "fs.write.after-flush",
    "fs.write.after-rename",
    "fs.link.after-note",
    "fs.link.after-temp",
    "fs.link.after-rename",
    "fs.remove.before-move",
    "fs.remove.after-move",
    "fs.remove.after-unlink",
];

/// Name the fixture's folder, the step, and how often it is passed before, to a child process of a test.
const CHILD: &str = "EVERRUNS_TEST_LINK";
const STEP: &str = "EVERRUNS_TEST_LINK_STEP";
const PASSED: &str = "EVERRUNS_TEST_LINK_PASSED";

fn target(text: &str) -> LinkTarget {
    LinkTarget::new(text.as_bytes().to_vec()).unwrap()
}

async fn link_over_old(files: &DiskFileSystem) -> Result<(), FileSystemError> {
    let seen = Replace::Matches(ContentVersion::of(b"old"));
    let (at, to) = (path("a/file"), target("../elsewhere"));
    files.create_link(&at, &to, seen).await
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself as a process that is killed"
)]
fn kill(test: &str, fixture: &Fixture, step: &str, passed: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(CHILD, fixture.temp.path())
        .env(STEP, step)
        .env(PASSED, passed.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    !status.success()
}

/// What a child process was told; `None` on its own, when it has nothing to do.
fn told() -> Option<PathBuf> {
    let (folder, step) = (std::env::var_os(CHILD)?, std::env::var(STEP).ok()?);
    let passed: usize = std::env::var(PASSED).ok()?.parse().unwrap();
    let left = AtomicUsize::new(passed);
    failpoint::arm(step, move || {
        let is_due = left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .is_err();
        if is_due {
            std::process::abort();
        }
        true
    });
    Some(folder.into())
}

/// Proves H66 for links: whoever opens the tree after a process was killed finds the link or the file, and nothing else.
#[test]
fn h66_a_killed_link_is_made_or_not() {
    for (step, is_made) in STEPS {
        let fixture = Fixture::new(Resolution::Kernel);
        fixture.put("a/file", "old");
        let child = "links::child_process_that_is_killed_making_a_link";
        assert!(kill(child, &fixture, step, 0), "{step} was not reached");
        drop(open(fixture.temp.path(), Resolution::Kernel));
        let expected: &[u8] = if is_made { b"../elsewhere" } else { b"old" };
        let found = BTreeMap::from([(PathBuf::from("a/file"), expected.to_vec())]);
        assert_eq!(snapshot(&fixture.root), found, "{step}");
        assert_eq!(fixture.root.join("a/file").is_symlink(), is_made, "{step}");
    }
}

/// The other process of the test above; on its own it has nothing to do.
#[tokio::test]
async fn child_process_that_is_killed_making_a_link() {
    if let Some(folder) = told() {
        link_over_old(&open(&folder, Resolution::Kernel))
            .await
            .unwrap();
    }
}

/// Proves H74 for links: one that fails at any step before its end changes nothing.
#[tokio::test]
async fn h74_a_failed_step_of_a_link_changes_nothing() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for (step, _) in STEPS {
            drop(std::fs::remove_file(fixture.root.join("a/file")));
            fixture.put("a/file", "old");
            failpoint::arm(step, || false);
            let error = link_over_old(&fixture.files).await.unwrap_err();
            failpoint::disarm_all();
            let is_told = step.starts_with("fs.link.after-rename")
                || step.starts_with("fs.link.after-folder-flush");
            assert_eq!(error.is_of_a_made_change(), is_told, "{step}: {error:?}");
            let expected: &[u8] = if is_told { b"../elsewhere" } else { b"old" };
            let found = BTreeMap::from([(PathBuf::from("a/file"), expected.to_vec())]);
            assert_eq!(snapshot(&fixture.root), found, "{step}");
        }
    })
    .await;
}

/// Proves H51 for links: what an editor outside saves between the check and the link stays, and the link is a conflict.
#[tokio::test]
async fn h51_an_editor_that_saves_while_a_link_is_made_wins() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for step in [
            "fs.link.after-check",
            "fs.link.after-temp",
            "fs.write.before-exchange",
        ] {
            fixture.put("a/file", "old");
            let (file, new) = (fixture.root.join("a/file"), fixture.root.join("new"));
            failpoint::arm(step, move || {
                std::fs::write(&new, "his").unwrap();
                std::fs::rename(&new, &file).unwrap();
                true
            });
            let error = link_over_old(&fixture.files).await.unwrap_err();
            failpoint::disarm_all();
            let his = ContentVersion::of(b"his");
            assert!(
                matches!(&error, FileSystemError::Conflict { current: Some(now), .. } if *now == his),
                "{step}: {error:?}"
            );
            assert_eq!(fixture.bytes("a/file"), b"his", "{step}");
            assert_eq!(snapshot(&fixture.root).len(), 1, "{step}");
        }
    })
    .await;
}

/// The fixture's tree as the head, and another one beside it as a root.
fn mounts(folder: &Path) -> MountedFileSystem {
    let docs = folder.join("docs");
    std::fs::create_dir_all(&docs).unwrap();
    let options = DiskOptions::new(folder.join("locks-docs"));
    let docs = Arc::new(DiskFileSystem::open(docs, options).unwrap());
    let roots = WorkspaceRootSet::new()
        .with_root(RootName::new("docs").unwrap(), docs, RootAccess::ReadWrite)
        .unwrap();
    MountedFileSystem::new(Arc::new(open(folder, Resolution::Kernel)), roots)
}

async fn fill(fixture: &Fixture) -> BTreeMap<PathBuf, Vec<u8>> {
    for name in ["d/one", "d/sub/two"] {
        fixture.put(name, name);
    }
    let (run, any) = (path("d/run"), Precondition::Any);
    let files = &fixture.files;
    files
        .write_with_mode(&run, "run".into(), FileMode::Executable, any)
        .await
        .unwrap();
    for (at, to) in [("d/latest", "run"), ("d/sub/up", "../one")] {
        let made = files
            .create_link(&path(at), &target(to), Replace::Never)
            .await;
        made.unwrap();
    }
    snapshot(&fixture.root.join("d"))
}

/// Proves H07 and H66: a move between two trees that is killed at any step loses nothing: each file, with its mode, and
/// each link is whole in one tree or in both, and nothing else is there.
#[tokio::test]
async fn h07_h66_a_killed_move_between_trees_loses_nothing() {
    let mut kills = 0;
    for step in MOVE_STEPS {
        for passed in 0..4 {
            let fixture = Fixture::new(Resolution::Kernel);
            let all = fill(&fixture).await;
            assert_eq!(all.len(), 5);
            let child = "links::child_process_that_is_killed_moving";
            if !kill(child, &fixture, step, passed) {
                break;
            }
            kills += 1;
            drop(mounts(fixture.temp.path()));
            let (left, arrived) = (fixture.root.join("d"), fixture.temp.path().join("docs/d"));
            let mut found = BTreeMap::new();
            for folder in [&left, &arrived]
                .into_iter()
                .filter(|folder| folder.exists())
            {
                for (name, bytes) in snapshot(folder) {
                    let at = folder.join(&name);
                    assert_eq!(all.get(&name), Some(&bytes), "{step}, {passed}: {at:?}");
                    let mode = std::fs::symlink_metadata(&at).unwrap().permissions().mode();
                    let is_run = name == Path::new("run");
                    assert!(at.is_symlink() || (mode & 0o100 != 0) == is_run, "{at:?}");
                    found.insert(name, bytes);
                }
            }
            assert_eq!(found, all, "{step}, {passed}");
        }
    }
    assert!(kills > 15, "{kills} kills");
}

/// The other process of the test above; on its own it has nothing to do.
#[tokio::test]
async fn child_process_that_is_killed_moving() {
    if let Some(folder) = told() {
        let (from, to) = (path("d"), path("/roots/docs/d"));
        let moved = mounts(&folder).rename(&from, &to, Replace::Never).await;
        moved.unwrap();
    }
}
