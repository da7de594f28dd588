//! A disk that a test can fill.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use super::MountedDisk;

/// A small disk in memory, unmounted when it is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    disk: MountedDisk,
}

impl SmallDisk {
    /// Mounts one of `kilobytes`; `None`, told loudly, where that isn't allowed. In CI it must be.
    #[must_use]
    pub fn mount(kilobytes: u32) -> Option<Self> {
        let script = format!("mount -t tmpfs -o size={kilobytes}k none disk");
        let disk = MountedDisk::make("root, to mount a tmpfs", &script)?;
        Some(Self { disk })
    }

    /// The folder at which it is mounted.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.disk.folder()
    }

    fn filler(&self) -> PathBuf {
        self.folder().join("filler")
    }

    /// Fills the disk, all but about `left` bytes.
    ///
    /// # Panics
    ///
    /// If the disk can't be written to at all.
    pub fn fill(&self, left: u64) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.filler())
            .expect("a file to fill the disk with");
        while file.write_all(&[0; 4096]).is_ok() {}
        let size = file.metadata().expect("the file's size").len();
        file.set_len(size.saturating_sub(left))
            .expect("a file can be made shorter");
    }

    /// Takes back what [`fill`](Self::fill) filled it with.
    ///
    /// # Panics
    ///
    /// If it was not filled.
    pub fn free(&self) {
        std::fs::remove_file(self.filler()).expect("the disk was filled");
    }
}
