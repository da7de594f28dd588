use std::io::ErrorKind;

use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, SessionFileSystem as _,
    SessionFileSystemExt as _,
};
use everruns_fs::disk::Resolution;

use crate::broken::Disk;
use crate::support::{path, snapshot};

fn assert_quota(error: &FileSystemError, asked: &str, at: &str) {
    let FileSystemError::NoSpace { path, step, source } = error else {
        panic!("{error:?}");
    };
    assert_eq!(source.kind(), ErrorKind::QuotaExceeded, "{error:?}");
    assert_eq!(path.relative(), asked, "{error:?}");
    assert!(step.contains(at), "{error}, expected at `{at}`");
    assert!(error.to_string().contains("quota"), "{error}");
}

/// Proves H74 for EDQUOT: the quota's end fails a write where it is met, and everything is as it was.
#[tokio::test]
async fn h74_a_full_quota_keeps_the_old_content() {
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let Some(disk) = Disk::with_quota() else {
            return;
        };
        let files = disk.open(resolution);
        let old = "old ".repeat(10_000);
        files.write_all("a/f", old.clone()).await.unwrap();
        let before = snapshot(&disk.root());
        // More than the quota by itself.
        let new = "new ".repeat(400_000);
        for precondition in [
            Precondition::Any,
            Precondition::Matches(ContentVersion::of(old.as_bytes())),
        ] {
            let at = path("a/f");
            let write = files.write(&at, new.clone().into(), precondition).await;
            assert_quota(&write.unwrap_err(), "a/f", "write");
            assert_eq!(files.read_all("a/f").await.unwrap(), old);
            assert_eq!(snapshot(&disk.root()), before);
        }
        let fresh = files.write_all("a/g", new.clone()).await.unwrap_err();
        assert_quota(&fresh, "a/g", "write");
        assert_eq!(snapshot(&disk.root()), before);
        fill(&disk);
        let before = snapshot(&disk.root());
        let write = files.write_all("a/f", "new").await.unwrap_err();
        assert_quota(&write, "a/f", "temporary file");
        let made = files.create_dir(&path("d")).await.unwrap_err();
        assert_quota(&made, "d", "make the folder");
        let deep = files.write_all("d/e/f", "new").await.unwrap_err();
        assert_quota(&deep, "d/e/f", "folder on the way");
        assert_eq!(snapshot(&disk.root()), before);
        assert_eq!(files.read_all("a/f").await.unwrap(), old);
        // What makes room works without any.
        files
            .remove(&path("filler"), Removal::Recursive, Precondition::Any)
            .await
            .unwrap();
        disk.lift_quota();
        files.write_all("a/f", new.clone()).await.unwrap();
        assert_eq!(files.read_all("a/f").await.unwrap(), new);
    }
}

/// Uses up the quota to the last entry.
fn fill(disk: &Disk) {
    let filler = disk.root().join("filler");
    std::fs::create_dir(&filler).unwrap();
    let mut block: Vec<u8> = vec![b'x'; 64 << 10];
    for number in 0_u32.. {
        block[..4].copy_from_slice(&number.to_le_bytes());
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(filler.join(number.to_string()));
        let Ok(mut file) = file else { return };
        let written = std::io::Write::write_all(&mut file, &block);
        if written.and_then(|()| file.sync_all()).is_err() {
            block.truncate((block.len() / 2).max(4));
        }
    }
}
