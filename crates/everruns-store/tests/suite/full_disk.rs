//! A disk that is full while events are appended.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use everruns_core::session::{SessionStore as _, StoreError};
use everruns_store::SqliteSessionStore;
use tempfile::TempDir;

use crate::support::samples::{all_events, append, leased, text_of};

/// A small file system of its own, unmounted at the end.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None`, told loudly, where it cannot be mounted.
    #[expect(clippy::disallowed_methods, reason = "only mount mounts")]
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "none"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        assert_ne!(
            std::env::var("CI").as_deref(),
            Ok("true"),
            "full disks can't be tested: mounting a tmpfs takes root"
        );
        eprintln!("NOT TESTED: full disks, because mounting a tmpfs takes root");
        None
    }

    fn filler(&self) -> PathBuf {
        self.folder.path().join("filler")
    }

    /// Leaves about so many bytes.
    fn fill(&self, left: u64) {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.filler())
            .unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        let size = file.metadata().unwrap().len();
        file.set_len(size.saturating_sub(left)).unwrap();
    }
}

impl Drop for SmallDisk {
    #[expect(clippy::disallowed_methods, reason = "only umount unmounts")]
    fn drop(&mut self) {
        let unmounted = Command::new("umount")
            .arg("-l")
            .arg(self.folder.path())
            .output();
        assert!(std::thread::panicking() || unmounted.is_ok());
    }
}

/// Proves H74 for the store: what was acknowledged stays, the error says what failed, and the same request is applied
/// once when there is space again.
#[tokio::test]
async fn h74_appends_on_a_full_disk() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    for left in [0, 20_000, 60_000] {
        let file = disk.folder.path().join(format!("sessions-{left}.db"));
        let store = SqliteSessionStore::open(&file).await.unwrap();
        let token = leased(&store, "s").await;
        disk.fill(left);
        let mut place = 0;
        let key = |place: u64| format!("{place} {}", "x".repeat(500));
        let failure = loop {
            match append(&store, "s", token, place, &key(place)).await {
                Ok(receipt) => place = receipt.last.0,
                Err(error) => break error,
            }
            assert!(place < 10_000, "the disk is never full");
        };
        let StoreError::Failed { operation, source } = &failure else {
            panic!("{failure:?}");
        };
        assert_eq!(*operation, "append events");
        assert!(source.to_string().contains("full"), "{source}");

        std::fs::remove_file(disk.filler()).unwrap();
        append(&store, "s", token, place, &key(place))
            .await
            .unwrap();
        let events = all_events(&store, "s").await;
        let expected: Vec<_> = (0..=place).map(key).collect();
        let found: Vec<_> = events.iter().map(text_of).collect();
        assert_eq!(found, expected);
        store.check_integrity().await.unwrap();
        assert_eq!(
            store
                .session(&crate::support::samples::id("s"))
                .await
                .unwrap()
                .last_sequence
                .0,
            place + 1
        );
        store.close().await;
    }
}
