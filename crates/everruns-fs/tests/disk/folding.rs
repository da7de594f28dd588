//! Disks that ignore case.

use crate::folding_disk::FoldingDisk;
use crate::support::path;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, LastLink, PageRequest, Precondition, Replace,
    SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{PolicyFileSystem, WorkspacePolicy};

fn open(disk: &FoldingDisk, resolution: Resolution) -> DiskFileSystem {
    let options = DiskOptions::new(disk.temp.path().join("locks")).resolution(resolution);
    DiskFileSystem::open(disk.head(), options).unwrap()
}

/// Proves H05: another spelling of a name gives no access that the stored name does not.
#[tokio::test]
async fn h05_the_stored_name_decides_on_a_disk_that_ignores_case() {
    let Some(disk) = FoldingDisk::mount() else {
        return;
    };
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let files = open(&disk, resolution);
        files.write_all("secret/key", "s").await.unwrap();
        files.write_all("open/a", "o").await.unwrap();
        let policy = WorkspacePolicy::builder()
            .allow_write("**")
            .deny_read("secret")
            .deny_write("open/a")
            .build()
            .unwrap();
        let judged = PolicyFileSystem::new(std::sync::Arc::new(files), policy);
        for spelling in ["secret/key", "SECRET/key", "secret/KEY", "Secret/Key"] {
            let read = judged.read_all(spelling).await;
            assert!(
                matches!(read, Err(FileSystemError::Denied { .. })),
                "{spelling}: {read:?}"
            );
            let stat = judged.stat(&path(spelling)).await;
            assert!(
                matches!(stat, Err(FileSystemError::Denied { .. })),
                "{spelling}: {stat:?}"
            );
            let list = judged.list(&path("SECRET"), PageRequest::default()).await;
            assert!(
                matches!(list, Err(FileSystemError::Denied { .. })),
                "{list:?}"
            );
            let moved = judged
                .rename(&path(spelling), &path("open/b"), Replace::Never)
                .await;
            assert!(moved.is_err(), "{spelling}");
        }
        for spelling in ["open/a", "OPEN/A", "open/A"] {
            assert_eq!(judged.read_all(spelling).await.unwrap(), "o");
            let write = judged
                .write(&path(spelling), "changed".into(), Precondition::Any)
                .await;
            assert!(
                matches!(write, Err(FileSystemError::Denied { .. })),
                "{spelling}: {write:?}"
            );
        }
        // What is new has no other name, below a folder that has.
        judged.write_all("OPEN/New", "n").await.unwrap();
        assert_eq!(judged.read_all("open/new").await.unwrap(), "n");
        assert_eq!(std::fs::read(disk.head().join("secret/key")).unwrap(), b"s");
    }
}

/// Proves H04 and H50 there: all spellings of a file have one key, so that they have one lock and one version.
#[tokio::test]
async fn h05_all_spellings_are_one_file() {
    let Some(disk) = FoldingDisk::mount() else {
        return;
    };
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let files = open(&disk, resolution);
        files.write_all("one/file", "0").await.unwrap();
        let resolved = files.resolve(&path("ONE/File"), LastLink::Follow).await;
        assert_eq!(resolved.unwrap(), path("one/file"));
        if disk.by_kernel {
            one_writer_wins(&files).await;
        } else {
            eprintln!(
                "NOT POSSIBLE: writers by several spellings, as no kernel's disk that ignores case could be mounted"
            );
        }
        // A name can be given another case.
        files
            .rename(&path("one/file"), &path("one/FILE"), Replace::File)
            .await
            .unwrap();
        assert!(files.read_all("one/file").await.is_ok());
    }
}

async fn one_writer_wins(files: &DiskFileSystem) {
    let precondition = Precondition::Matches(ContentVersion::of(b"0"));
    let spellings = ["one/file", "ONE/file", "one/FILE", "One/File"].map(path);
    let writes = spellings
        .iter()
        .enumerate()
        .map(|(writer, at)| files.write(at, writer.to_string().into(), precondition));
    let results = futures::future::join_all(writes).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
}
