//! Ignored files that share their bytes with the originals, on a file system that can.

use everruns_testkit::disks::MountedDisk;
use tempfile::TempDir;

use crate::fixture::{Repository, Scene, write};

/// A disk that shares bytes between files.
fn sharing_disk() -> Option<MountedDisk> {
    MountedDisk::make(
        "root, loop devices and btrfs-progs",
        "truncate -s 256M image; mkfs.btrfs -q image; mount -o loop image disk",
    )
}

/// How many bytes are free, once everything is written.
fn free(disk: &MountedDisk) -> u64 {
    let mut options = std::fs::OpenOptions::new();
    let folder = options.read(true).open(disk.folder()).unwrap();
    rustix::fs::syncfs(&folder).unwrap();
    let found = rustix::fs::statvfs(disk.folder()).unwrap();
    found.f_bfree * found.f_frsize
}

/// Where the file system can, ignored files share their bytes; each stays a file of its own.
#[tokio::test]
async fn ignored_files_share_their_bytes_where_the_disk_can() {
    let Some(disk) = sharing_disk() else {
        return;
    };
    let root = TempDir::new_in(disk.folder()).unwrap();
    let repository = Repository::small(&root.path().join("project"));
    let cache = repository.path.join("ignored/cache.bin");
    let content: String = (0..1_600_000_u32)
        .map(|number| char::from(b'a' + (number.wrapping_mul(2_654_435_761) >> 28) as u8))
        .collect();
    write(&cache, &content.repeat(10));
    let size = cache.metadata().unwrap().len();
    let scene = Scene::around(root, repository);
    let workspace = scene.workspace().await;
    let before = free(&disk);
    let head = workspace
        .head("one")
        .include_ignored(["ignored/*.bin"])
        .create()
        .await
        .unwrap();
    let fork = head.fork("two").await.unwrap();
    let taken = before.saturating_sub(free(&disk));
    assert!(taken < size / 2, "two copies of {size} bytes took {taken}");
    for head in [&head, &fork] {
        let report = head.included_ignored().await.unwrap();
        let [file] = report.included.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!((file.bytes, file.shared), (size, true));
        let copy = scene.folder(head).join("ignored/cache.bin");
        assert_eq!(
            std::fs::read(&copy).unwrap(),
            std::fs::read(&cache).unwrap()
        );
        std::fs::write(&copy, "changed").unwrap();
        assert_eq!(cache.metadata().unwrap().len(), size);
    }
    // A state on another disk can't share with the repository, and gets a copy.
    let elsewhere = tempfile::tempdir().unwrap();
    let backend = crate::fixture::backend(&elsewhere.path().join("state"));
    let locator = scene.repository.path.to_str().unwrap();
    let workspace = everruns_core::workspace::Workspace::open(backend, locator)
        .await
        .unwrap();
    let head = workspace
        .head("three")
        .include_ignored(["ignored/*.bin"])
        .create()
        .await
        .unwrap();
    let report = head.included_ignored().await.unwrap();
    assert_eq!(
        (report.included[0].bytes, report.included[0].shared),
        (size, false)
    );
    head.destroy().await.unwrap();
}
