use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use everruns_core::failpoint;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, Replace, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, Resolution};

use crate::steps::ARMED;
use crate::support::{Fixture, each_resolution, open, path, snapshot};

/// Every step of a move that replaces a version, and whether it is made when a process is killed at it.
const STEPS: [(&str, bool); 6] = [
    ("fs.rename.after-check", false),
    ("fs.rename.after-note", false),
    ("fs.write.before-exchange", false),
    ("fs.write.after-exchange", true),
    ("fs.rename.after-exchange", true),
    ("fs.rename.after-rename", true),
];

/// Name the fixture's folder and the step to a child process of a test.
const CHILD: &str = "EVERRUNS_TEST_MOVE";
const STEP: &str = "EVERRUNS_TEST_MOVE_STEP";

async fn move_onto_old(files: &DiskFileSystem) -> Result<(), FileSystemError> {
    let seen = Replace::Matches(ContentVersion::of(b"old"));
    files.rename(&path("a/from"), &path("b/to"), seen).await
}

fn put(fixture: &Fixture) {
    fixture.put("a/from", "moving");
    fixture.put("b/to", "old");
}

/// Proves C08 and H51: what an editor outside saves between the check of a move and the move stays, and the move is a
/// conflict.
#[tokio::test]
async fn c08_h51_an_editor_that_saves_during_a_replacing_move_wins() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for step in [
            "fs.rename.after-check",
            "fs.rename.after-note",
            "fs.write.before-exchange",
        ] {
            for in_place in [true, false] {
                put(&fixture);
                let (target, new) = (fixture.root.join("b/to"), fixture.root.join("new"));
                failpoint::arm(step, move || {
                    if in_place {
                        std::fs::write(&target, "his").unwrap();
                    } else {
                        std::fs::write(&new, "his").unwrap();
                        std::fs::rename(&new, &target).unwrap();
                    }
                    true
                });
                let error = move_onto_old(&fixture.files).await.unwrap_err();
                failpoint::disarm_all();
                let his = ContentVersion::of(b"his");
                assert!(
                    matches!(
                        &error,
                        FileSystemError::Conflict { path: at, current: Some(v), .. }
                            if *v == his && *at == path("b/to")
                    ),
                    "{step}: {error}"
                );
                assert_eq!(fixture.bytes("b/to"), b"his", "{step}");
                assert_eq!(fixture.bytes("a/from"), b"moving", "{step}");
                assert_eq!(snapshot(&fixture.root).len(), 2, "{step}");
            }
        }
    })
    .await;
}

/// What an editor outside saves under the old name while the file moves stays there.
#[tokio::test]
async fn h51_a_save_under_the_old_name_is_kept() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        put(&fixture);
        let (source, new) = (fixture.root.join("a/from"), fixture.root.join("new"));
        failpoint::arm("fs.rename.after-exchange", move || {
            std::fs::write(&new, "his").unwrap();
            std::fs::rename(&new, &source).unwrap();
            true
        });
        move_onto_old(&fixture.files).await.unwrap();
        failpoint::disarm_all();
        assert_eq!(fixture.bytes("b/to"), b"moving");
        assert_eq!(fixture.bytes("a/from"), b"his");
        assert_eq!(snapshot(&fixture.root).len(), 2);
    })
    .await;
}

/// Proves H74 for moves: one that fails at any step before its end changes nothing.
#[tokio::test]
async fn h74_a_failed_step_of_a_replacing_move_changes_nothing() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for (step, _) in STEPS {
            put(&fixture);
            failpoint::arm(step, || false);
            let error = move_onto_old(&fixture.files).await.unwrap_err();
            failpoint::disarm_all();
            if step == "fs.rename.after-rename" {
                assert!(error.is_of_a_made_change(), "{error:?}");
                assert_eq!(fixture.bytes("b/to"), b"moving", "{step}");
            } else {
                assert!(
                    matches!(error, FileSystemError::Io { .. }),
                    "{step}: {error:?}"
                );
                assert_eq!(fixture.bytes("b/to"), b"old", "{step}");
                assert_eq!(fixture.bytes("a/from"), b"moving", "{step}");
                assert_eq!(snapshot(&fixture.root).len(), 2, "{step}");
            }
        }
    })
    .await;
}

/// Proves H66 for moves: whoever opens the tree after a move was killed finds all of it or nothing.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself as a process that is killed"
)]
fn h66_a_killed_move_is_made_or_not() {
    for (step, is_made) in STEPS {
        let fixture = Fixture::new(Resolution::Kernel);
        put(&fixture);
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "moves::child_process_that_is_killed"])
            .env(CHILD, fixture.temp.path())
            .env(STEP, step)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!status.success(), "{step} was not reached");
        drop(open(fixture.temp.path(), Resolution::Kernel));
        let found = snapshot(&fixture.root);
        let found: Vec<_> = found
            .iter()
            .map(|(path, bytes)| (path.to_str().unwrap(), bytes.as_slice()))
            .collect();
        if is_made {
            assert_eq!(found, [("b/to", &b"moving"[..])], "{step}");
        } else {
            assert_eq!(
                found,
                [("a/from", &b"moving"[..]), ("b/to", b"old")],
                "{step}"
            );
        }
    }
}

/// The other process of the test above; on its own it has nothing to do.
#[tokio::test]
async fn child_process_that_is_killed() {
    let (Some(folder), Some(step)) = (std::env::var_os(CHILD), std::env::var(STEP).ok()) else {
        return;
    };
    failpoint::arm(step, || std::process::abort());
    let files = open(folder.as_ref(), Resolution::Kernel);
    move_onto_old(&files).await.unwrap();
}

/// A note of a move is no licence to remove anything but the other name of the same file.
#[tokio::test]
async fn a_forged_note_of_a_move_removes_nothing() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        put(&fixture);
        fixture.files.write_all("a/from", "moving").await.unwrap();
        let locks = fixture.temp.path().join("locks");
        let note = std::fs::read_dir(&locks).unwrap().next().unwrap().unwrap();
        let inode = std::fs::metadata(fixture.root.join("a/from"))
            .unwrap()
            .ino();
        let temporary = ".everruns-tmp-0";
        for [name, target, source] in [
            ["b/to", "b/to", "a/from"],
            [temporary, "b/to", "a/from"],
            [temporary, "a/from", "a/from"],
            [temporary, "a/from", "../head-evil/secret"],
            [temporary, "../head-evil/secret", "a/from"],
        ] {
            let forged = [name, &inode.to_string(), target, source].join("\0");
            std::fs::write(note.path(), &forged).unwrap();
            drop(open(fixture.temp.path(), Resolution::Kernel));
            assert_eq!(snapshot(&fixture.root).len(), 2, "{forged:?}");
            fixture.assert_outside_untouched();
        }
    })
    .await;
}
