//! Ignored files that share their bytes with the originals, on a file system that can.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::fixture::{Repository, Scene, write};

/// A small file system that shares bytes between files, unmounted at the end.
struct SharingDisk {
    folder: TempDir,
    _image: TempDir,
}

#[expect(clippy::disallowed_methods, reason = "only these make and mount it")]
fn ran(program: &str, args: &[&str], path: &Path) -> bool {
    let output = Command::new(program).args(args).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

impl SharingDisk {
    /// Mounts one; `None`, told loudly, where that isn't possible.
    #[expect(clippy::print_stderr, reason = "what isn't tested must be heard of")]
    fn mount() -> Option<Self> {
        let (image, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = image.path().join("image");
        let mut options = std::fs::OpenOptions::new();
        let made = options.create_new(true).write(true).open(&file).unwrap();
        made.set_len(256 << 20).unwrap();
        let path = file.to_str().unwrap();
        // Where administrators' programs are, which not everybody's path leads to.
        let makes = |program: &str| ran(program, &["-q"], &file);
        let made =
            makes("mkfs.btrfs") || makes("/usr/sbin/mkfs.btrfs") || makes("/sbin/mkfs.btrfs");
        if made && ran("mount", &["-o", "loop", path], folder.path()) {
            return Some(Self {
                folder,
                _image: image,
            });
        }
        assert_ne!(
            std::env::var("CI").as_deref(),
            Ok("true"),
            "shared bytes can't be tested: it takes root, loop devices and btrfs-progs"
        );
        eprintln!("NOT TESTED: shared bytes, because it takes root, loop devices and btrfs-progs");
        None
    }

    /// How many bytes are free, once everything is written.
    fn free(&self) -> u64 {
        let mut options = std::fs::OpenOptions::new();
        let folder = options.read(true).open(self.folder.path()).unwrap();
        rustix::fs::syncfs(&folder).unwrap();
        let found = rustix::fs::statvfs(self.folder.path()).unwrap();
        found.f_bfree * found.f_frsize
    }
}

impl Drop for SharingDisk {
    fn drop(&mut self) {
        let unmounted = ran("umount", &["-l"], self.folder.path());
        assert!(std::thread::panicking() || unmounted);
    }
}

/// Where the file system can, ignored files share their bytes; each stays a file of its own.
#[tokio::test]
async fn ignored_files_share_their_bytes_where_the_disk_can() {
    let Some(disk) = SharingDisk::mount() else {
        return;
    };
    let root = TempDir::new_in(disk.folder.path()).unwrap();
    let repository = Repository::small(&root.path().join("project"));
    let cache = repository.path.join("ignored/cache.bin");
    let content: String = (0..1_600_000_u32)
        .map(|number| char::from(b'a' + (number.wrapping_mul(2_654_435_761) >> 28) as u8))
        .collect();
    write(&cache, &content.repeat(10));
    let size = cache.metadata().unwrap().len();
    let scene = Scene::around(root, repository);
    let workspace = scene.workspace().await;
    let before = disk.free();
    let head = workspace
        .head("one")
        .include_ignored(["ignored/*.bin"])
        .create()
        .await
        .unwrap();
    let fork = head.fork("two").await.unwrap();
    let taken = before.saturating_sub(disk.free());
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
