use std::ffi::CString;
use std::path::Path;

use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, SessionFileSystem as _,
    SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, DiskOptions};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use crate::support::{path, snapshot};

/// A small disk of its own. Mounting one needs the right to do so; in CI it must be there.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mount(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = CString::new(options).unwrap();
        let mounted = mount(
            "everruns-test",
            folder.path(),
            "tmpfs",
            MountFlags::NOSUID | MountFlags::NODEV,
            options.as_c_str(),
        );
        match mounted {
            Ok(()) => Some(Self { folder }),
            Err(errno) => {
                let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
                assert!(!in_ci, "no small disk could be mounted: {errno}");
                eprintln!("NOT TESTED: no small disk could be mounted, so none was full: {errno}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = unmount(self.path(), UnmountFlags::DETACH);
        if !std::thread::panicking() {
            unmounted.unwrap();
        }
    }
}

fn assert_no_space(error: &FileSystemError, at: &str) {
    assert!(
        matches!(error, FileSystemError::NoSpace { step, .. } if step.contains(at)),
        "{error}, expected a full disk at `{at}`"
    );
}

/// Proves H74: a full disk fails a write at the step that it fails, and the old content is there.
#[tokio::test]
async fn h74_a_full_disk_keeps_the_old_content() {
    let Some(disk) = SmallDisk::mount("size=512k") else {
        return;
    };
    let locks = tempfile::tempdir().unwrap();
    let root = disk.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    let files = DiskFileSystem::open(&root, DiskOptions::new(locks.path())).unwrap();
    let old = "old ".repeat(10_000);
    files.write_all("f", old.clone()).await.unwrap();
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![0; 400 << 10]).unwrap();
    let before = snapshot(&root);
    let new = "new ".repeat(50_000);
    for precondition in [
        Precondition::Any,
        Precondition::Matches(ContentVersion::of(old.as_bytes())),
    ] {
        let at = path("f");
        let write = files.write(&at, new.clone().into(), precondition);
        assert_no_space(&write.await.unwrap_err(), "write");
        assert_eq!(files.read_all("f").await.unwrap(), old);
        assert_eq!(snapshot(&root), before);
    }
    let fresh = files.write_all("g", new.clone()).await.unwrap_err();
    assert_no_space(&fresh, "write");
    assert_eq!(snapshot(&root), before);
    std::fs::remove_file(filler).unwrap();
    files.write_all("f", new.clone()).await.unwrap();
    assert_eq!(files.read_all("f").await.unwrap(), new);
}

/// Proves H74 where not even a temporary file or a folder can be made.
#[tokio::test]
async fn h74_a_disk_without_room_for_another_file_keeps_the_old_content() {
    let Some(disk) = SmallDisk::mount("size=512k,nr_inodes=8") else {
        return;
    };
    let locks = tempfile::tempdir().unwrap();
    let root = disk.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    let files = DiskFileSystem::open(&root, DiskOptions::new(locks.path())).unwrap();
    files.write_all("f", "old").await.unwrap();
    let mut number = 0;
    while std::fs::write(root.join(format!("filler{number}")), "").is_ok() {
        number += 1;
    }
    let before = snapshot(&root);
    let error = files.write_all("f", "new").await.unwrap_err();
    assert_no_space(&error, "temporary file");
    let error = files.create_dir(&path("d")).await.unwrap_err();
    assert_no_space(&error, "make the folder");
    let error = files.write_all("d/e", "new").await.unwrap_err();
    assert_no_space(&error, "folder on the way");
    assert_eq!(snapshot(&root), before);
    assert_eq!(files.read_all("f").await.unwrap(), "old");
}

/// Proves H74 where the disk of the lock files is the full one.
#[tokio::test]
async fn h74_a_full_disk_of_locks_keeps_the_old_content() {
    let Some(disk) = SmallDisk::mount("size=16k") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let files = DiskFileSystem::open(folder.path(), DiskOptions::new(disk.path())).unwrap();
    files.write_all("f", "old").await.unwrap();
    let mut filler = vec![0; 16 << 10];
    while std::fs::write(disk.path().join("filler"), &filler).is_err() {
        filler.truncate(filler.len() - 4096);
    }
    let before = snapshot(folder.path());
    let error = files.write_all("f", "new").await.unwrap_err();
    assert_no_space(&error, "note a temporary file");
    assert_eq!(snapshot(folder.path()), before);
}
