use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use everruns_core::failpoint;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, SessionFileSystem as _,
    SessionFileSystemExt as _,
};
use everruns_fs::disk::Resolution;

use crate::support::{Fixture, each_resolution, open, path, snapshot};

/// Every step of a write, and whether the new bytes are in place when a process is killed at it.
const STEPS: [(&str, bool); 10] = [
    ("fs.write.before-lock", false),
    ("fs.write.after-check", false),
    ("fs.write.after-note", false),
    ("fs.write.after-temp", false),
    ("fs.write.after-bytes", false),
    ("fs.write.after-flush", false),
    ("fs.write.before-exchange", false),
    ("fs.write.after-exchange", true),
    ("fs.write.after-rename", true),
    ("fs.write.after-folder-flush", true),
];

/// Name the fixture's folder and the step to a child process of a test.
const CHILD: &str = "EVERRUNS_TEST_CRASH";
const STEP: &str = "EVERRUNS_TEST_STEP";

/// Not empty where the child process walks.
const WALK: &str = "EVERRUNS_TEST_WALK";

/// Held by each test that arms a step.
pub(crate) static ARMED: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub(crate) fn replace_old() -> Precondition {
    Precondition::Matches(ContentVersion::of(b"old"))
}

const RESOLUTIONS: [Resolution; 2] = [Resolution::Kernel, Resolution::Walk];

/// Proves H66 for files: a writer that is killed at any step leaves the old or the new bytes, and whoever opens
/// the tree next finds no temporary file.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself as a process that is killed"
)]
fn h66_a_killed_writer_leaves_the_old_or_the_new_file() {
    let each = STEPS
        .into_iter()
        .flat_map(|step| RESOLUTIONS.map(|resolution| (step, resolution)));
    for ((step, is_new), resolution) in each {
        let fixture = Fixture::new(resolution);
        fixture.put("a/b/file", "old");
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "steps::child_process_that_is_killed"])
            .env(CHILD, fixture.temp.path())
            .env(STEP, step)
            .env(
                WALK,
                if resolution == Resolution::Walk {
                    "1"
                } else {
                    ""
                },
            )
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!status.success(), "{step} was not reached");
        let expected: &[u8] = if is_new { b"new" } else { b"old" };
        assert_eq!(fixture.bytes("a/b/file"), expected, "{step}");
        drop(open(fixture.temp.path(), resolution));
        fixture.assert_no_leftovers();
        assert_eq!(snapshot(&fixture.root).len(), 1, "{step}");
    }
}

/// The other process of the test above; on its own it has nothing to do.
#[tokio::test]
async fn child_process_that_is_killed() {
    let (Some(folder), Some(step)) = (std::env::var_os(CHILD), std::env::var(STEP).ok()) else {
        return;
    };
    let walks = std::env::var_os(WALK).is_some_and(|walks| !walks.is_empty());
    let resolution = RESOLUTIONS[usize::from(walks)];
    failpoint::arm(step, || std::process::abort());
    open(folder.as_ref(), resolution)
        .write(&path("a/b/file"), "new".into(), replace_old())
        .await
        .unwrap();
}

/// A write that fails at any step before it is in place changes nothing; one that fails afterwards says that it was
/// made. The next one works.
#[tokio::test]
async fn h74_a_failed_step_keeps_the_old_content() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        fixture.put("file", "old");
        for (step, _) in STEPS {
            let is_made = matches!(
                step,
                "fs.write.after-rename" | "fs.write.after-folder-flush"
            );
            failpoint::arm(step, || false);
            let error = fixture
                .files
                .write(&path("file"), "new".into(), replace_old())
                .await
                .unwrap_err();
            failpoint::disarm_all();
            let is_told = match &error {
                FileSystemError::Io { .. } => !is_made,
                FileSystemError::NotFlushed { .. } => is_made,
                _ => false,
            };
            assert!(is_told, "{step}: {error:?}");
            let expected: &[u8] = if is_made { b"new" } else { b"old" };
            assert_eq!(fixture.bytes("file"), expected, "{step}");
            fixture.assert_no_leftovers();
            fixture.files.write_all("file", "old").await.unwrap();
        }
    })
    .await;
}

/// Another process that was killed under the same lock is cleaned up after by the next writer.
#[tokio::test]
async fn the_next_writer_removes_what_was_left_behind() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        fixture.files.write_all("a/file", "old").await.unwrap();
        let left = ".everruns-tmp-00000000000000000000000000000000";
        fixture.put(&format!("a/{left}"), "half");
        let locks = fixture.temp.path().join("locks");
        let notes: Vec<_> = std::fs::read_dir(&locks).unwrap().collect();
        assert_eq!(notes.len(), 1, "one path has been written");
        let note = notes.into_iter().next().unwrap().unwrap().path();
        std::fs::write(&note, format!("a/{left}")).unwrap();
        fixture.files.write_all("a/file", "new").await.unwrap();
        fixture.assert_no_leftovers();
        assert_eq!(std::fs::read(&note).unwrap(), b"");
        // A note is no licence to remove anything else.
        for forged in [
            "a/file",
            "../head-evil/secret",
            "a/../../head-evil/secret",
            "/etc/hostname",
        ] {
            std::fs::write(&note, forged).unwrap();
            fixture.files.write_all("a/file", "newer").await.unwrap();
            assert_eq!(fixture.bytes("a/file"), b"newer");
            fixture.assert_outside_untouched();
        }
    })
    .await;
}

/// Proves H51 in the last moment: an editor outside saves right before, or right after, the two files are
/// exchanged. Its content stays.
#[tokio::test]
async fn h51_an_editor_that_saves_during_the_exchange_wins() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        let file = fixture.root.join("file");
        let aside = fixture.root.join("aside");
        for in_place in [true, false] {
            fixture.put("file", "old");
            let (target, new) = (file.clone(), aside.clone());
            let done = AtomicBool::new(false);
            failpoint::arm("fs.write.before-exchange", move || {
                if !done.swap(true, Ordering::Relaxed) {
                    if in_place {
                        std::fs::write(&target, "his").unwrap();
                    } else {
                        std::fs::write(&new, "his").unwrap();
                        std::fs::rename(&new, &target).unwrap();
                    }
                }
                true
            });
            let error = fixture
                .files
                .write(&path("file"), "mine".into(), replace_old())
                .await
                .unwrap_err();
            failpoint::disarm_all();
            let his = ContentVersion::of(b"his");
            assert!(
                matches!(error, FileSystemError::Conflict { current: Some(v), .. } if v == his),
                "{error}"
            );
            assert_eq!(fixture.bytes("file"), b"his");
            fixture.assert_no_leftovers();
        }
    })
    .await;
}

/// Proves H51: two saves from outside, around the exchange. The newest stays.
#[tokio::test]
async fn h51_the_newest_of_two_saves_from_outside_stays() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        fixture.put("file", "old");
        let file = fixture.root.join("file");
        for (step, text) in [
            ("fs.write.before-exchange", "first"),
            ("fs.write.after-exchange", "second"),
        ] {
            let (target, aside) = (file.clone(), fixture.root.join("aside"));
            failpoint::arm(step, move || {
                std::fs::write(&aside, text).unwrap();
                std::fs::rename(&aside, &target).unwrap();
                true
            });
        }
        let error = fixture
            .files
            .write(&path("file"), "mine".into(), replace_old())
            .await
            .unwrap_err();
        failpoint::disarm_all();
        assert!(matches!(error, FileSystemError::Conflict { .. }), "{error}");
        assert_eq!(fixture.bytes("file"), b"second");
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H51: a file that appears in the last moment is not replaced by a write that expects none.
#[tokio::test]
async fn h51_a_file_that_appears_meanwhile_is_kept() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        let file = fixture.root.join("file");
        failpoint::arm("fs.write.after-flush", move || {
            std::fs::write(&file, "his").unwrap();
            true
        });
        let error = fixture
            .files
            .write(&path("file"), "mine".into(), Precondition::Absent)
            .await
            .unwrap_err();
        failpoint::disarm_all();
        let his = ContentVersion::of(b"his");
        assert!(
            matches!(error, FileSystemError::Conflict { current: Some(v), .. } if v == his),
            "{error}"
        );
        assert_eq!(fixture.bytes("file"), b"his");
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H55: a write that nobody waits for leaves the old or the new content and no lock.
#[tokio::test(flavor = "multi_thread")]
async fn h55_a_dropped_write_leaves_a_whole_file_and_no_lock() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for round in 0..100 {
            fixture.files.write_all("file", "old").await.unwrap();
            let target = path("file");
            let write = fixture
                .files
                .write(&target, "dropped".into(), Precondition::Any);
            drop(tokio::time::timeout(Duration::from_micros(round * 20), write).await);
            let bytes = fixture.files.read_all("file").await.unwrap();
            assert!(bytes == "old" || bytes == "dropped", "{bytes:?}");
        }
        fixture.files.write_all("file", "last").await.unwrap();
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H55: a write that was dropped before it had its lock does not come after a later write.
#[tokio::test(flavor = "multi_thread")]
async fn h55_a_dropped_write_never_undoes_a_later_one() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        let (reached, is_reached) = std::sync::mpsc::channel();
        let (release, is_released) = std::sync::mpsc::channel();
        let is_released = std::sync::Mutex::new(is_released);
        let is_first = AtomicBool::new(true);
        failpoint::arm("fs.write.before-lock", move || {
            if is_first.swap(false, Ordering::SeqCst) {
                reached.send(()).unwrap();
                is_released.lock().unwrap().recv().unwrap();
            }
            true
        });
        let files = fixture.files.clone();
        let dropped = tokio::spawn(async move { files.write_all("file", "dropped").await });
        is_reached.recv().unwrap();
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
        fixture.files.write_all("file", "later").await.unwrap();
        release.send(()).unwrap();
        // The dropped write has long enough to go wrong.
        tokio::time::sleep(Duration::from_millis(200)).await;
        failpoint::disarm_all();
        assert_eq!(fixture.bytes("file"), b"later");
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H51 for removal: what an editor outside saves in the last moment is not removed.
#[tokio::test]
async fn h51_an_editor_that_saves_during_a_removal_wins() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        fixture.put("file", "old");
        let file = fixture.root.join("file");
        failpoint::arm("fs.remove.before-move", move || {
            std::fs::write(&file, "his").unwrap();
            true
        });
        let error = fixture
            .files
            .remove(&path("file"), Removal::Entry, replace_old())
            .await
            .unwrap_err();
        failpoint::disarm_all();
        let his = ContentVersion::of(b"his");
        assert!(
            matches!(error, FileSystemError::Conflict { current: Some(v), .. } if v == his),
            "{error}"
        );
        assert_eq!(fixture.bytes("file"), b"his");
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H51 where the host then fails: what an editor outside saved in the last moment, and what cannot be put back, is
/// kept, and the error names it.
#[tokio::test]
async fn h51_what_cannot_be_put_back_is_kept_and_named() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for (save, undo, left) in [
            (
                "fs.write.before-exchange",
                "fs.write.before-undo",
                Some("mine"),
            ),
            ("fs.remove.before-move", "fs.remove.before-undo", None),
        ] {
            fixture.put("file", "old");
            let file = fixture.root.join("file");
            failpoint::arm(save, move || {
                std::fs::write(&file, "his").unwrap();
                true
            });
            failpoint::arm(undo, || false);
            let (file, files) = (path("file"), &fixture.files);
            let changed = if left.is_some() {
                let written = files.write(&file, "mine".into(), replace_old());
                written.await.map(drop)
            } else {
                files.remove(&file, Removal::Entry, replace_old()).await
            };
            failpoint::disarm_all();
            let error = changed.unwrap_err();
            assert!(error.is_of_a_made_change(), "{error:?}");
            let FileSystemError::NotPutBack { path, kept, source } = error else {
                panic!("{error:?}");
            };
            assert_eq!(path, file);
            assert!(matches!(*source, FileSystemError::Io { .. }), "{source:?}");
            let now = std::fs::read(fixture.root.join("file")).ok();
            assert_eq!(now.as_deref(), left.map(str::as_bytes));
            assert_eq!(fixture.bytes(&kept), b"his");
            // Hidden from the tree, and nobody's to remove.
            let seen = files
                .list_all(&crate::support::path("."))
                .await
                .unwrap()
                .len();
            assert_eq!(seen, usize::from(left.is_some()));
            files.write_all("file", "later").await.unwrap();
            assert_eq!(fixture.bytes(&kept), b"his");
            std::fs::remove_file(fixture.root.join(kept)).unwrap();
            fixture.assert_no_leftovers();
        }
    })
    .await;
}

/// A file that another program rewrites in place whenever it is read is no torn version but an error, and one that grows is
/// read as it was at one moment.
#[tokio::test]
async fn h51a_what_never_is_whole_is_no_version() {
    let _armed = ARMED.lock().await;
    each_resolution(|fixture| async move {
        for grows in [false, true] {
            // Larger than what is read without a thread that may block.
            fixture.put("file", &"a".repeat(1 << 20));
            let file = fixture.root.join("file");
            let writes = AtomicU8::new(b'b');
            failpoint::arm("fs.read.after-look", move || {
                use std::os::unix::fs::FileExt as _;
                // The clock of the disk moves on.
                std::thread::sleep(Duration::from_millis(12));
                let mut options = std::fs::OpenOptions::new();
                let options = options.write(true).append(grows);
                let opened = options.open(&file).unwrap();
                if grows {
                    std::io::Write::write_all(&mut &opened, b"a").unwrap();
                } else {
                    let byte = writes.fetch_add(1, Ordering::Relaxed);
                    opened.write_all_at(&[byte], 0).unwrap();
                }
                true
            });
            let read = fixture.files.read_all("file").await;
            failpoint::disarm_all();
            if grows {
                let bytes = read.unwrap();
                assert!(bytes.len() > 1 << 20 && bytes.iter().all(|&byte| byte == b'a'));
            } else {
                let error = read.unwrap_err();
                assert!(error.is_retryable(), "{error:?}");
                assert!(error.to_string().contains("keeps changing it"), "{error}");
            }
        }
    })
    .await;
}
