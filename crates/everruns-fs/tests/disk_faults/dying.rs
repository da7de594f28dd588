use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::failpoint;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, GrepQuery, Precondition, Removal, Replace, SearchEvent,
    SearchQuery, SearchTarget, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::disk::Resolution;
use futures::StreamExt as _;
use rustix::io::Errno;

use crate::broken::Disk;
use crate::steps::{ARMED, replace_old};
use crate::support::{path, snapshot};

/// Stands for a change that was made and may not last.
const NOT_FLUSHED: &str = "not flushed";
/// Stands for one that was made, and of which what it displaced could not be looked at or put back.
const NOT_PUT_BACK: &str = "not put back";

const BOTH: [Resolution; 2] = [Resolution::Kernel, Resolution::Walk];

fn is_eio(source: &std::io::Error) -> bool {
    Errno::from_io_error(source) == Some(Errno::IO)
}

fn assert_io(error: &FileSystemError, asked: &str, at: &str) {
    let FileSystemError::Io { path, step, source } = error else {
        panic!("{error:?}");
    };
    assert!(is_eio(source), "{error:?}");
    assert_eq!(path.relative(), asked, "{error:?}");
    assert!(step.contains(at), "{error}, expected at `{at}`");
}

fn assert_not_flushed(error: &FileSystemError, asked: &str) {
    let FileSystemError::NotFlushed { path, source } = error else {
        panic!("{error:?}");
    };
    assert!(is_eio(source), "{error:?}");
    assert_eq!(path.relative(), asked, "{error:?}");
    assert!(error.to_string().contains("may be as before"), "{error}");
}

fn assert_not_put_back(error: &FileSystemError, asked: &str) {
    let FileSystemError::NotPutBack { path, kept, source } = error else {
        panic!("{error:?}");
    };
    assert_io(source, asked, "put back");
    assert_eq!(path.relative(), asked, "{error:?}");
    assert!(error.to_string().ends_with(kept), "{error}");
}

/// Proves H74 for EIO: a disk that dies at any step of a write fails it, and when the host is up again the old bytes
/// are there, or the new ones, and no temporary file.
#[tokio::test]
async fn h74_a_disk_that_dies_at_a_step_keeps_a_whole_file() {
    let steps = [
        ("fs.write.before-lock", "open"),
        ("fs.write.after-check", "make a temporary file"),
        ("fs.write.after-note", "make a temporary file"),
        ("fs.write.after-temp", "write"),
        ("fs.write.after-bytes", "set the mode of"),
        ("fs.write.after-flush", "replace"),
        ("fs.write.after-exchange", NOT_PUT_BACK),
        ("fs.write.after-rename", NOT_FLUSHED),
    ];
    let _armed = ARMED.lock().await;
    for resolution in BOTH {
        for (step, at) in steps {
            let Some(disk) = Disk::with_power() else {
                return;
            };
            let files = disk.open(resolution);
            files.write_all("a/file", "old").await.unwrap();
            let breaker = disk.breaker();
            let done = AtomicBool::new(false);
            failpoint::arm(step, move || {
                if !done.swap(true, Ordering::Relaxed) {
                    breaker.shut_down();
                }
                true
            });
            let write = files
                .write(&path("a/file"), "new".into(), replace_old())
                .await;
            failpoint::disarm_all();
            let error = write.unwrap_err();
            match at {
                NOT_FLUSHED => assert_not_flushed(&error, "a/file"),
                NOT_PUT_BACK => assert_not_put_back(&error, "a/file"),
                at => assert_io(&error, "a/file", at),
            }
            drop(files);
            disk.restart();
            let files = disk.open(resolution);
            let bytes = files.read_all("a/file").await.unwrap();
            let may_be_new = [NOT_FLUSHED, NOT_PUT_BACK].contains(&at) && bytes == "new";
            assert!(bytes == "old" || may_be_new, "{step}: {bytes:?}");
            assert_eq!(snapshot(&disk.root()).len(), 1, "{step}");
            files.write_all("a/file", "next").await.unwrap();
        }
    }
}

/// Proves H66 for files: what a write, a move or a removal has acknowledged is there after the power has failed.
#[tokio::test]
async fn h66_acknowledged_changes_outlive_the_power() {
    for resolution in BOTH {
        let Some(disk) = Disk::with_power() else {
            return;
        };
        let files = disk.open(resolution);
        files.write_all("a/b/replaced", "old").await.unwrap();
        files.write_all("a/removed", "old").await.unwrap();
        files.write_all("a/moved", "old").await.unwrap();
        files.write_all("a/b/replaced", "new").await.unwrap();
        let (from, to) = (path("a/moved"), path("c/d/moved"));
        files.rename(&from, &to, Replace::Never).await.unwrap();
        files
            .remove(&path("a/removed"), Removal::Entry, Precondition::Any)
            .await
            .unwrap();
        files.create_dir(&path("e/f")).await.unwrap();
        disk.breaker().shut_down();
        let read = files.read_all("a/b/replaced").await.unwrap_err();
        assert_io(&read, "a/b/replaced", "open");
        drop(files);
        disk.restart();
        let found = snapshot(&disk.root());
        let found: Vec<_> = found
            .iter()
            .map(|(path, bytes)| (path.to_str().unwrap(), bytes.as_slice()))
            .collect();
        assert_eq!(
            found,
            [("a/b/replaced", &b"new"[..]), ("c/d/moved", b"old")]
        );
        assert!(disk.root().join("e/f").is_dir());
    }
}

/// Proves H74 for EIO of a flush: a disk that takes bytes and cannot keep them fails a write and keeps the old file in
/// place; a change that only the flush of a folder ends says that it was made and may not last.
#[tokio::test]
async fn h74_a_disk_that_cannot_flush_keeps_the_old_content() {
    for resolution in BOTH {
        let Some(disk) = Disk::on_another() else {
            return;
        };
        let files = disk.open(resolution);
        for name in ["file", "moved", "removed"] {
            files.write_all(name, "old").await.unwrap();
        }
        disk.breaker().shut_down();
        let before = snapshot(&disk.root());
        for precondition in [Precondition::Any, replace_old()] {
            let write = files.write(&path("file"), "new".into(), precondition).await;
            assert_io(&write.unwrap_err(), "file", "flush");
            assert_eq!(files.read_all("file").await.unwrap(), "old");
            assert_eq!(snapshot(&disk.root()), before);
        }
        let write = files.write_all("fresh", "new").await;
        assert_io(&write.unwrap_err(), "fresh", "flush");
        assert_eq!(snapshot(&disk.root()), before);
        let renamed = files
            .rename(&path("moved"), &path("elsewhere"), Replace::Never)
            .await;
        assert_not_flushed(&renamed.unwrap_err(), "elsewhere");
        assert_eq!(files.read_all("elsewhere").await.unwrap(), "old");
        for precondition in [Precondition::Any, replace_old()] {
            let removed = files
                .remove(&path("removed"), Removal::Entry, precondition)
                .await;
            assert_not_flushed(&removed.unwrap_err(), "removed");
            assert!(!disk.root().join("removed").exists());
            std::fs::write(disk.root().join("removed"), "old").unwrap();
        }
        let made = files.create_dir(&path("folder")).await;
        assert_not_flushed(&made.unwrap_err(), "folder");
        assert!(disk.root().join("folder").is_dir());
    }
}

/// More than a block of text that is nowhere else.
fn long(text: &str) -> String {
    format!("{text} {} ", std::process::id()).repeat(1_000)
}

/// Proves H74 for EIO of a read: what cannot be read is told, and nothing takes its place that asks for it.
#[tokio::test]
async fn h74_rotten_bytes_are_told_and_not_replaced_unseen() {
    for resolution in BOTH {
        let Some(disk) = Disk::with_checksums() else {
            return;
        };
        let files = disk.open(resolution);
        let old = long("old");
        files.write_all("rotten", old.clone()).await.unwrap();
        files.write_all("sound", "sound").await.unwrap();
        disk.breaker()
            .rot(&disk.root().join("rotten"), &old.as_bytes()[..100]);
        let read = files.read_all("rotten").await.unwrap_err();
        assert_io(&read, "rotten", "read");
        assert_eq!(read.to_string().matches("rotten").count(), 1, "{read}");
        assert!(!read.is_retryable());
        let unseen = Precondition::Matches(ContentVersion::of(old.as_bytes()));
        for precondition in [unseen, Precondition::Absent] {
            let write = files
                .write(&path("rotten"), "new".into(), precondition)
                .await;
            assert_io(&write.unwrap_err(), "rotten", "read");
        }
        let removed = files.remove(&path("rotten"), Removal::Entry, unseen).await;
        assert_io(&removed.unwrap_err(), "rotten", "read");
        assert_eq!(files.list_all(&path(".")).await.unwrap().len(), 2);
        assert_eq!(files.read_all("sound").await.unwrap(), "sound");
        let still = std::fs::read(disk.root().join("rotten")).unwrap_err();
        assert!(is_eio(&still), "{still}");
        let query = SearchQuery::new(SearchTarget::Grep(GrepQuery::new("o")));
        let found: Vec<_> = files.search(query).await.unwrap().collect().await;
        let [
            Err(unread),
            Ok(SearchEvent::Line { path, .. }),
            Ok(SearchEvent::Summary(_)),
        ] = &found[..]
        else {
            panic!("{found:?}");
        };
        assert_io(unread, "rotten", "read");
        assert_eq!(path.relative(), "sound");
        // Whoever wants it replaced whatever it is can have that.
        files.write_all("rotten", "new").await.unwrap();
        assert_eq!(files.read_all("rotten").await.unwrap(), "new");
        assert_eq!(snapshot(&disk.root()).len(), 2);
    }
}

/// Proves H74: bytes that rot between the exchange of two files and the last look at the old ones are put back, not
/// lost.
#[tokio::test]
async fn h74_a_file_that_cannot_be_looked_at_once_more_is_put_back() {
    use std::os::unix::fs::MetadataExt as _;
    let _armed = ARMED.lock().await;
    for resolution in BOTH {
        let Some(disk) = Disk::with_checksums() else {
            return;
        };
        let files = disk.open(resolution);
        let old = long("old");
        let version = Precondition::Matches(ContentVersion::of(old.as_bytes()));
        for step in ["fs.write.after-exchange", "fs.remove.after-move"] {
            files.write_all("file", old.clone()).await.unwrap();
            let inode = std::fs::metadata(disk.root().join("file")).unwrap().ino();
            let (breaker, root, text) =
                (disk.breaker(), disk.root(), old.as_bytes()[..100].to_vec());
            failpoint::arm(step, move || {
                let hidden = std::fs::read_dir(&root).unwrap().find_map(|entry| {
                    let name = entry.unwrap().file_name().into_string().unwrap();
                    name.starts_with(".everruns-tmp-").then_some(name)
                });
                breaker.rot(&root.join(hidden.unwrap()), &text);
                true
            });
            let failed = if step.contains("write") {
                let write = files.write(&path("file"), "new".into(), version).await;
                write.unwrap_err()
            } else {
                let removed = files.remove(&path("file"), Removal::Entry, version).await;
                removed.unwrap_err()
            };
            failpoint::disarm_all();
            assert_io(&failed, "file", "read");
            assert_eq!(
                std::fs::metadata(disk.root().join("file")).unwrap().ino(),
                inode
            );
            assert_eq!(std::fs::read_dir(disk.root()).unwrap().count(), 1);
        }
    }
}
