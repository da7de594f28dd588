use std::sync::Arc;

use everruns_core::file_system::{
    FileSystemError, Precondition, Removal, Replace, SessionFileSystem as _,
    SessionFileSystemExt as _,
};
use everruns_fs::{FileLimits, LimitsFileSystem, MemoryFileSystem};
use everruns_testkit::doubles::FaultyFileSystem;

use crate::support::{memory, path};

fn limited(limits: FileLimits) -> LimitsFileSystem {
    LimitsFileSystem::new(Arc::new(MemoryFileSystem::new()), limits)
}

fn assert_reached(error: &FileSystemError, limit: u64) {
    assert!(
        matches!(error, FileSystemError::LimitReached { limit: l, .. } if *l == limit),
        "{error}"
    );
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn files_over_the_limit_are_refused_and_nothing_changes() {
    let files = limited(FileLimits::new().file_bytes(3));
    files.write_all("a", "123").await.unwrap();
    let error = files.write_all("a", "1234").await.unwrap_err();
    assert!(
        matches!(
            error,
            FileSystemError::TooLarge {
                size: 4,
                limit: 3,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(files.read_all("a").await.unwrap(), "123");
    assert_eq!(files.usage().bytes, 3);
}

#[tokio::test]
async fn bytes_are_counted_by_write_and_given_back_for_none_that_was_made() {
    let files = limited(FileLimits::new().total_bytes(10));
    files.write_all("a", "12345").await.unwrap();
    files.write_all("a", "1234").await.unwrap();
    assert_reached(&files.write_all("a", "12").await.unwrap_err(), 10);
    files.write_all("a", "").await.unwrap();
    files.write_all("a", "1").await.unwrap();
    let full = files.write_all("b", "1").await.unwrap_err();
    assert_eq!(
        full.to_string(),
        "/workspace/b cannot be written: the limit of 10 bytes written in all is reached"
    );
    assert!(files.read_all("b").await.is_err());
    files
        .remove(&path("a"), Removal::Entry, Precondition::Any)
        .await
        .unwrap();
    assert_reached(&files.write_all("a", "1").await.unwrap_err(), 10);
}

#[tokio::test]
async fn new_files_and_folders_are_counted_with_the_missing_ones_above() {
    let files = limited(FileLimits::new().files(5));
    files.write_all("d/e/a", "x").await.unwrap();
    files.write_all("d/e/a", "y").await.unwrap();
    assert_eq!(files.usage().files, 3);
    files.create_dir(&path("d/e")).await.unwrap();
    files.create_dir(&path("f")).await.unwrap();
    assert_reached(&files.write_all("g/a", "x").await.unwrap_err(), 5);
    assert!(files.stat(&path("g")).await.is_err());
    assert_reached(&files.create_dir(&path("g/h")).await.unwrap_err(), 5);
    files
        .rename(&path("d/e/a"), &path("g/a"), Replace::Never)
        .await
        .unwrap();
    assert_eq!(files.usage().files, 5);
    files.write_all("g/a", "z").await.unwrap();
    assert_reached(&files.write_all("b", "x").await.unwrap_err(), 5);
}

#[tokio::test]
async fn failed_changes_cost_nothing() {
    let inner = memory(&[]).await;
    let full = || FileSystemError::NoSpace {
        path: path("a"),
        step: "write",
        source: std::io::ErrorKind::StorageFull.into(),
    };
    // The layer looks for the file and for its folder first; the third call is the write.
    let faulty = FaultyFileSystem::failing(inner, 3, full);
    let limits = FileLimits::new().files(1).total_bytes(3);
    let files = LimitsFileSystem::new(Arc::new(faulty), limits);
    let error = files.write_all("a", "123").await.unwrap_err();
    assert!(matches!(error, FileSystemError::NoSpace { .. }), "{error}");
    assert_eq!(files.usage(), everruns_fs::FileUsage::default());
    files.write_all("a", "123").await.unwrap();
    assert_reached(&files.write_all("a", "1").await.unwrap_err(), 3);
}

#[tokio::test]
async fn clones_share_what_is_counted_and_counting_goes_on_after_a_restart() {
    let limits = FileLimits::new().total_bytes(4);
    let files = limited(limits);
    files.write_all("a", "12").await.unwrap();
    files.clone().write_all("b", "1").await.unwrap();
    let again = LimitsFileSystem::continuing(
        Arc::new(MemoryFileSystem::new()),
        files.limits(),
        files.usage(),
    );
    assert_reached(&again.write_all("c", "12").await.unwrap_err(), 4);
    again.write_all("c", "1").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_at_the_same_time_never_exceed_a_limit_together() {
    let files = limited(FileLimits::new().files(50).total_bytes(70));
    let writers: Vec<_> = (0..100)
        .map(|number| {
            let files = files.clone();
            tokio::spawn(async move { files.write_all(&format!("f{number}"), "1").await })
        })
        .collect();
    let mut made = 0;
    for writer in writers {
        made += usize::from(writer.await.unwrap().is_ok());
    }
    assert_eq!(made, 50);
    assert_eq!(files.list_all(&path(".")).await.unwrap().len(), 50);
    assert_eq!((files.usage().files, files.usage().bytes), (50, 50));
}

/// Proves H55 for the limits: what nobody waited for counts, as it may have been made.
#[tokio::test]
async fn h55_abandoned_writes_count() {
    let (disk, _folder) = crate::support::disk();
    let files = LimitsFileSystem::new(disk, FileLimits::new().total_bytes(4));
    let at = path("a");
    let mut write = files.write(&at, "123".into(), Precondition::Any);
    assert!(futures::poll!(write.as_mut()).is_pending());
    drop(write);
    assert_reached(&files.write_all("b", "12").await.unwrap_err(), 4);
}
