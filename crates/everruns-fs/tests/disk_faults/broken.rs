//! Disks of their own that really fail: made, mounted and broken by the host's programs.

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_testkit::disks::{MountedDisk, run};

/// A mounted disk with a folder for a tree on it; the locks lie elsewhere.
pub(crate) struct Disk {
    disk: MountedDisk,
}

/// Turns the file system that holds `$1` off as a power failure does: what is not on the disk is lost, and everything
/// fails with EIO from now on (`EXT4_IOC_SHUTDOWN` without a flush of the log).
const SHUT_DOWN: &str = "perl -e 'open(my $f, \"<\", $ARGV[0]) or die; my $how = pack(\"L\", 2); \
                         defined ioctl($f, 0x8004587d, $how) or die'";

impl Disk {
    /// Makes a disk with `make`, which leaves it mounted at `disk`. In CI it must be there.
    fn mounted(make: &str) -> Option<Self> {
        let needs = "root, loop devices, btrfs-progs, e2fsprogs and perl";
        let disk = MountedDisk::make(needs, &format!("{make}; mkdir -p disk/tree"))?;
        Some(Self { disk })
    }

    /// A disk that can be [shut down](Self::shut_down).
    pub(crate) fn with_power() -> Option<Self> {
        // It stays the same device, by which the locks of its tree are known.
        Self::mounted(
            "truncate -s 16M image; mkfs.ext4 -q image; losetup -f --show image > device; \
             mount $(cat device) disk",
        )
    }

    /// A disk on a disk: when that one is [shut down](Self::shut_down), this one lives in memory only, and can flush
    /// nothing.
    pub(crate) fn on_another() -> Option<Self> {
        Self::mounted(
            "truncate -s 64M outer; mkfs.ext4 -q outer; mkdir below; mount -o loop outer below; \
             truncate -s 16M below/image; mkfs.ext4 -q -O ^has_journal below/image; \
             mount -o loop,errors=continue below/image disk",
        )
    }

    /// A disk that knows when bytes have [rotted](Self::rot).
    pub(crate) fn with_checksums() -> Option<Self> {
        Self::mounted("truncate -s 128M image; mkfs.btrfs -q image; mount -o loop image disk")
    }

    /// A disk of which the tree may have a mebibyte.
    pub(crate) fn with_quota() -> Option<Self> {
        Self::mounted(
            "truncate -s 128M image; mkfs.btrfs -q image; mount -o loop image disk; btrfs quota enable disk; \
             btrfs subvolume create disk/tree; btrfs qgroup limit 1M disk/tree",
        )
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.disk.folder().join("tree")
    }

    pub(crate) fn open(&self, resolution: Resolution) -> DiskFileSystem {
        let options = DiskOptions::new(self.disk.beside().join("locks")).resolution(resolution);
        let files = DiskFileSystem::open(self.root(), options).unwrap();
        assert_eq!(files.resolution(), resolution);
        files
    }

    /// What breaks the disk later, while it is borrowed elsewhere.
    pub(crate) fn breaker(&self) -> Breaker {
        Breaker {
            folder: self.disk.beside().to_owned(),
        }
    }

    /// Lifts the quota.
    pub(crate) fn lift_quota(&self) {
        assert!(self.run("btrfs qgroup limit none disk/tree"));
    }

    /// Mounts the disk anew, as after the host has started again.
    pub(crate) fn restart(&self) {
        assert!(self.run("umount disk; mount $(cat device) disk"));
    }

    fn run(&self, script: &str) -> bool {
        self.disk.run(script)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.run(
            "umount disk || umount -l disk || true; umount -l below || true; \
             test -e device && losetup -d $(cat device)",
        );
    }
}

/// Breaks a [`Disk`].
#[derive(Clone)]
pub(crate) struct Breaker {
    folder: PathBuf,
}

impl Breaker {
    /// Shuts down the disk itself, or the one that it lies on.
    pub(crate) fn shut_down(&self) {
        assert!(run(
            &self.folder,
            &format!("test -d below && of=below || of=disk; {SHUT_DOWN} $of"),
        ));
    }

    /// Changes the bytes `text` on the disk, wherever they are, so that the file of them at `path` cannot be read.
    pub(crate) fn rot(&self, path: &Path, text: &[u8]) {
        let file = std::fs::OpenOptions::new().read(true).open(path).unwrap();
        rustix::fs::syncfs(&file).unwrap();
        let image = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.folder.join("image"))
            .unwrap();
        let mut found = 0;
        let mut block = vec![0; 4096];
        for offset in (0..image.metadata().unwrap().len()).step_by(block.len()) {
            image.read_exact_at(&mut block, offset).unwrap();
            if block.starts_with(text) {
                image.write_all_at(b"rotten", offset).unwrap();
                found += 1;
            }
        }
        assert!(found > 0, "the disk does not hold the bytes");
        // The kernel must forget them, too.
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        std::fs::read(path).unwrap_err();
    }
}
