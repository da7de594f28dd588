//! Moves that fail, are dropped, or meet somebody else.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use everruns_core::file_system::{
    FileSystemError, Replace, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::disk::DiskFileSystem;
use everruns_fs::{MemoryFileSystem, PolicyFileSystem, WorkspacePolicy};
use everruns_testkit::doubles::{Fault, FaultyFileSystem, Moment, UnflushedFileSystem};

use crate::forgetful::{Forgetful, Forgets};
use crate::support::{disk, names, path};

use super::{counted, fill, target, things, two_mounts};

/// Which of the two trees fails.
#[derive(Clone, Copy, Debug)]
enum Failing {
    Source,
    Destination,
}

/// Moves `d` while the operation of this number fails, and gives what became of it. `None` when there are fewer.
async fn move_with_fault(failing: Failing, operation: usize, moment: Moment) -> Option<bool> {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let all = fill(head.as_ref(), true).await;
    let error = || FileSystemError::Io {
        path: WorkspacePath::root(),
        step: "go on with",
        source: std::io::Error::other("the disk is gone for a moment"),
    };
    let faulty = |inner: Arc<DiskFileSystem>| {
        let fault = Fault {
            operation,
            moment,
            error: Arc::new(error),
        };
        Arc::new(FaultyFileSystem::new(inner, fault))
    };
    let (fs, counter) = match failing {
        Failing::Source => {
            let source = faulty(head.clone());
            (two_mounts(source.clone(), docs.clone()), source)
        }
        Failing::Destination => {
            let destination = faulty(docs.clone());
            (two_mounts(head.clone(), destination.clone()), destination)
        }
    };
    let moved = fs
        .rename(&path("d"), &path("/roots/docs/d"), Replace::Never)
        .await;
    if counter.operations() < operation {
        moved.unwrap();
        return None;
    }
    let what = format!("{failing:?} failed at {operation}, {moment:?}: {moved:?}");
    let (left, arrived) = (
        things(head.as_ref(), "d").await,
        things(docs.as_ref(), "d").await,
    );
    for (name, thing) in &all {
        let is_whole = left.get(name) == Some(thing) || arrived.get(name) == Some(thing);
        assert!(is_whole, "{name} is lost: {what}");
    }
    match &moved {
        Ok(()) => {
            assert_eq!(arrived, all, "{what}");
            assert!(left.is_empty(), "{what}");
        }
        Err(FileSystemError::PartialMove { from, to, .. }) => {
            assert_eq!((from, to), (&path("d"), &path("/roots/docs/d")));
            assert_eq!(arrived, all, "{what}");
        }
        Err(_) => assert_eq!(left, all, "the source is not whole: {what}"),
    }
    Some(moved.is_err())
}

/// Proves H07: whichever operation of either tree fails, before or after it is done, nothing is lost, and the move says
/// what is where.
#[tokio::test]
async fn h07_a_move_that_fails_at_any_operation_loses_nothing() {
    for failing in [Failing::Source, Failing::Destination] {
        for moment in [Moment::Before, Moment::After] {
            let (mut operation, mut failures) = (1, 0);
            while let Some(failed) = move_with_fault(failing, operation, moment).await {
                failures += u32::from(failed);
                operation += 1;
            }
            assert!(
                failures > 10,
                "{failing:?}, {moment:?}: {failures} failures"
            );
        }
    }
}

/// Proves H07 and H74: a destination that cannot keep a link or a mode for sure does not cost the source.
#[tokio::test]
async fn h07_h74_links_and_modes_that_may_not_last_are_no_move() {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let all = fill(head.as_ref(), true).await;
    let unflushed = Arc::new(UnflushedFileSystem::new(docs.clone()));
    let fs = two_mounts(head.clone(), unflushed);
    for from in ["d", "d/latest", "d/bin/run"] {
        let to = path("/roots/docs/new");
        let moved = fs.rename(&path(from), &to, Replace::Never).await;
        assert!(
            matches!(&moved, Err(FileSystemError::Io { .. })),
            "{from}: {moved:?}"
        );
        assert!(names(docs.as_ref(), ".").await.is_empty(), "{from}");
    }
    docs.write_all("there", "old").await.unwrap();
    let (from, to) = (path("d/latest"), path("/roots/docs/there"));
    let moved = fs.rename(&from, &to, Replace::File).await;
    assert!(
        matches!(
            &moved,
            Err(FileSystemError::PartialMove { from: still, to: too, source })
                if (still, too) == (&from, &to) && source.is_of_a_made_change()
        ),
        "{moved:?}"
    );
    assert_eq!(
        docs.read_link(&path("there")).await.unwrap(),
        target("bin/run")
    );
    assert_eq!(things(head.as_ref(), "d").await, all);
}

fn gone_for_a_moment() -> FileSystemError {
    FileSystemError::Io {
        path: WorkspacePath::root(),
        step: "go on with",
        source: std::io::Error::other("the disk is gone for a moment"),
    }
}

/// Moves `d` while these two operations of the destination fail. `None` when the first is never come to; else whether
/// a part of a copy was left.
async fn move_with_two_faults(first: usize, second: usize) -> Option<bool> {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let all = fill(head.as_ref(), true).await;
    let inner = Arc::new(FaultyFileSystem::failing(
        docs.clone(),
        first,
        gone_for_a_moment,
    ));
    // An operation that fails here does not reach the other, which counts what does.
    let outer = Arc::new(FaultyFileSystem::failing(
        inner.clone(),
        second,
        gone_for_a_moment,
    ));
    let fs = two_mounts(head.clone(), outer);
    let moved = fs
        .rename(&path("d"), &path("/roots/docs/d"), Replace::Never)
        .await;
    if inner.operations() < first {
        return None;
    }
    let what = format!("operations {first} and {second} failed: {moved:?}");
    let left = things(head.as_ref(), "d").await;
    let copied = things(docs.as_ref(), "d").await;
    let is_there = !names(docs.as_ref(), ".").await.is_empty();
    match &moved {
        Ok(()) | Err(FileSystemError::PartialMove { .. }) => assert_eq!(copied, all, "{what}"),
        Err(FileSystemError::PartialCopy { from, to, .. }) => {
            assert_eq!((from, to), (&path("d"), &path("/roots/docs/d")));
            // What cannot be looked at any more is told, too.
            assert_eq!(left, all, "{what}");
        }
        Err(_) => {
            assert_eq!(left, all, "{what}");
            assert!(!is_there, "{what}: {copied:?} is left");
        }
    }
    Some(is_there && matches!(moved, Err(FileSystemError::PartialCopy { .. })))
}

/// Proves H07: when a folder cannot be copied, and the copy not be taken back, the move says that a part of it is left.
#[tokio::test]
async fn h07_a_copy_that_cannot_be_taken_back_is_told() {
    let (mut first, mut told) = (1, 0);
    loop {
        let mut is_reached = false;
        for second in first + 1..first + 5 {
            let left = move_with_two_faults(first, second).await;
            is_reached |= left.is_some();
            told += u32::from(left == Some(true));
        }
        if !is_reached {
            break;
        }
        first += 1;
    }
    assert!(told > 10, "a part of a copy was left {told} times");
}

/// Proves H07 and H23: a folder that holds what listings do not show, such as a repository, is not moved to another
/// mount, and nothing of it is.
#[tokio::test]
async fn h07_h23_what_listings_hide_is_not_torn_apart() {
    for (hidden, is_git) in [
        ("d/sub/.git/config", true),
        ("d/.git", true),
        ("d/sub/.GIT/x", true),
        ("d/sub/.everruns-tmp-0", false),
        ("d/hidden-by-policy", false),
    ] {
        let ((inner, folder), (docs, _two)) = (disk(), disk());
        let all = fill(inner.as_ref(), true).await;
        inner.write_all("d/sub/x", "x").await.unwrap();
        let at = folder.path().join("tree").join(hidden);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, "hidden").unwrap();
        let policy = WorkspacePolicy::builder()
            .allow_write("**")
            .deny_read("**/hidden-by-policy")
            .build()
            .unwrap();
        let head: Arc<dyn SessionFileSystem> = match hidden {
            "d/hidden-by-policy" => Arc::new(PolicyFileSystem::new(inner.clone(), policy)),
            _ => inner.clone(),
        };
        let (audited, changes) = counted(docs.clone());
        let fs = two_mounts(head, audited);
        let to = path("/roots/docs/d");
        let moved = fs.rename(&path("d"), &to, Replace::Never).await;
        let is_told = match &moved {
            Err(FileSystemError::GitInternal { .. }) => is_git,
            Err(FileSystemError::InvalidOperation { .. }) => !is_git,
            _ => false,
        };
        assert!(is_told, "{hidden}: {moved:?}");
        assert_eq!(changes.load(Ordering::SeqCst), 0, "{hidden}");
        assert_eq!(std::fs::read(&at).unwrap(), b"hidden");
        let left = things(inner.as_ref(), "d").await;
        assert!(
            all.iter()
                .all(|(name, thing)| left.get(name) == Some(thing)),
            "{hidden}"
        );
    }
}

/// Proves H55 and H07: a move of links and executable files that nobody waits for is not made, or made to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h55_h07_a_dropped_move_of_links_is_made_or_not() {
    let mut made = 0;
    for round in 0..30 {
        let ((head, _one), (docs, _two)) = (disk(), disk());
        let all = fill(head.as_ref(), true).await;
        let fs = two_mounts(head.clone(), docs.clone());
        let (from, to) = (path("d"), path("/roots/docs/d"));
        let moving = fs.rename(&from, &to, Replace::Never);
        let patience = Duration::from_micros(round * 150);
        drop(tokio::time::timeout(patience, moving).await);
        let began = Instant::now();
        loop {
            let (left, moved) = (
                names(head.as_ref(), ".").await,
                names(docs.as_ref(), ".").await,
            );
            if moved.is_empty() && began.elapsed() > Duration::from_millis(300) {
                assert_eq!(things(head.as_ref(), "d").await, all);
                break;
            }
            if left.is_empty() {
                assert_eq!(things(docs.as_ref(), "d").await, all);
                made += 1;
                break;
            }
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "half a move is left"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    assert!(made > 0, "no move was begun");
}

/// A link that somebody changes between the copy and the removal is theirs: it stays.
#[tokio::test]
async fn h07_a_link_that_changes_while_it_moves_stays() {
    let ((head, folder), docs) = (disk(), disk());
    let (docs, _other) = docs;
    let made = head
        .create_link(&path("link"), &target("a"), Replace::Never)
        .await;
    made.unwrap();
    let link = folder.path().join("tree/link");
    let changed = Arc::new(Forgetful::new(
        docs.clone(),
        Forgets::NothingButCalls(Arc::new(move || {
            std::fs::remove_file(&link).unwrap();
            symlink("his", &link).unwrap();
        })),
    ));
    let fs = two_mounts(head.clone(), changed);
    let moved = fs
        .rename(&path("link"), &path("/roots/docs/link"), Replace::Never)
        .await;
    assert!(
        matches!(moved, Err(FileSystemError::PartialMove { .. })),
        "{moved:?}"
    );
    assert_eq!(head.read_link(&path("link")).await.unwrap(), target("his"));
    assert_eq!(docs.read_link(&path("link")).await.unwrap(), target("a"));
}

/// The tree in memory says what it cannot hold.
#[tokio::test]
async fn memory_refuses_links_and_changes_nothing() {
    let files = MemoryFileSystem::new();
    let made = files
        .create_link(&path("link"), &target("a"), Replace::Never)
        .await;
    assert!(matches!(made, Err(FileSystemError::Unsupported { .. })));
    assert!(names(&files, ".").await.is_empty());
}
