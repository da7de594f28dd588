//! What is told without a thread that may block, and what that rests on.

use std::path::Path;
use std::time::Duration;

use everruns_core::file_system::{
    ContentVersion, FileSystemError, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_testkit::disks::{MountedDisk, SmallDisk};

use crate::support::{Fixture, each_resolution, path};

/// Reads and looks while the only thread that may block is busy until the end.
fn read_beside_a_busy_pool(root: &Path) {
    let locks = tempfile::tempdir().unwrap();
    let options = DiskOptions::new(locks.path()).resolution(Resolution::Kernel);
    let files = DiskFileSystem::open(root, options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let (release, is_released) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        let busy = tokio::task::spawn_blocking(move || is_released.recv());
        let told = tokio::time::timeout(Duration::from_secs(30), async {
            // Twice, as the first read finds out what the file system can do.
            for _ in 0..2 {
                assert_eq!(files.read_all("d/file").await.unwrap(), "text");
                assert_eq!(files.stat(&path("d/file")).await.unwrap().size, 4);
            }
            let version = files.version(&path("d/file")).await.unwrap();
            assert_eq!(version, Some(ContentVersion::of(b"text")));
        });
        let told = told.await;
        drop(release);
        drop(busy.await);
        told.expect("reads waited for a thread");
    });
}

#[test]
fn cached_reads_need_no_thread_that_may_block() {
    // An overlay, a tmpfs or a network's file system may not know it.
    let temporary = tempfile::tempdir().unwrap();
    if knows_nowait(temporary.path()) {
        return read_file_beside_a_busy_pool(temporary.path());
    }
    let needs =
        "root, a loop device and mkfs.ext4, as the temporary folder does not know RWF_NOWAIT";
    let script = "truncate -s 16M image; mkfs.ext4 -q image; mount -o loop image disk";
    let Some(disk) = MountedDisk::make(needs, script) else {
        return;
    };
    assert!(knows_nowait(&disk.folder()), "ext4 knows it");
    read_file_beside_a_busy_pool(&disk.folder());
}

fn read_file_beside_a_busy_pool(root: &Path) {
    std::fs::create_dir(root.join("d")).unwrap();
    std::fs::write(root.join("d/file"), "text").unwrap();
    read_beside_a_busy_pool(root);
}

fn knows_nowait(folder: &Path) -> bool {
    use std::io::IoSliceMut;
    let probe = folder.join("probe");
    std::fs::write(&probe, "x").unwrap();
    let file = std::fs::OpenOptions::new().read(true).open(&probe).unwrap();
    let mut byte = [0];
    let mut buffers = [IoSliceMut::new(&mut byte)];
    rustix::io::preadv2(&file, &mut buffers, 0, rustix::io::ReadWriteFlags::NOWAIT).is_ok()
}

/// A tmpfs does not know `RWF_NOWAIT`, and has nothing to wait for.
#[test]
fn reads_of_a_disk_in_memory_need_no_thread_that_may_block() {
    if let Some(disk) = SmallDisk::mount(512) {
        read_file_beside_a_busy_pool(&disk.folder());
    }
}

fn assert_stale<T: std::fmt::Debug>(done: &Result<T, FileSystemError>) {
    assert!(
        matches!(done, Err(FileSystemError::StaleRoot { .. })),
        "{done:?}"
    );
}

/// Proves H08 for reads that come right after one another: the folder itself is looked at each time.
#[tokio::test]
async fn h08_a_folder_that_is_moved_between_two_reads_is_stale() {
    each_resolution(|fixture: Fixture| async move {
        fixture.put("file", "text");
        // Longer than a tick of the clock by which the kernel dates a change.
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(fixture.files.read_all("file").await.unwrap(), "text");
        let moved = fixture.temp.path().join("moved");
        std::fs::rename(&fixture.root, &moved).unwrap();
        assert_stale(&fixture.files.read_all("file").await);
        assert_stale(&fixture.files.stat(&path("file")).await);
        std::fs::rename(&moved, &fixture.root).unwrap();
        assert_eq!(fixture.files.read_all("file").await.unwrap(), "text");
        std::fs::remove_dir_all(&fixture.root).unwrap();
        assert_stale(&fixture.files.stat(&path("file")).await);
    })
    .await;
}

/// Proves H08 for a folder above: changes notice at once, and reads within a moment.
#[tokio::test]
async fn h08_a_folder_above_that_is_replaced_is_noticed() {
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("above/head");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("file"), "text").unwrap();
        let options = DiskOptions::new(temp.path().join("locks")).resolution(resolution);
        let files = DiskFileSystem::open(&root, options).unwrap();
        assert_eq!(files.read_all("file").await.unwrap(), "text");
        std::fs::rename(temp.path().join("above"), temp.path().join("moved")).unwrap();
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("file"), "other").unwrap();
        if let Ok(bytes) = files.read_all("file").await {
            assert_eq!(
                bytes, "text",
                "a read sees the folder that was opened or none"
            );
        }
        assert_stale(&files.write_all("file", "new").await);
        assert_stale(&files.read_all("file").await);
        assert_stale(&files.list_all(&path(".")).await);
        // Without a change that failed, too.
        let above = temp.path().join("above");
        std::fs::rename(&above, temp.path().join("aside")).unwrap();
        std::fs::rename(temp.path().join("moved"), &above).unwrap();
        assert_eq!(files.read_all("file").await.unwrap(), "text");
        std::fs::rename(&above, temp.path().join("moved")).unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert_stale(&files.stat(&path("file")).await);
        assert_eq!(
            std::fs::read(temp.path().join("aside/head/file")).unwrap(),
            b"other"
        );
        assert_eq!(
            std::fs::read(temp.path().join("moved/head/file")).unwrap(),
            b"text"
        );
    }
}
