use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A disk that ignores case, mounted.
pub(crate) struct FoldingDisk {
    pub(crate) temp: TempDir,
    /// Whether the kernel's own file system ignores case. A program's (FUSE) does so behind the kernel's back, which
    /// keeps what it knows of a file for each spelling by itself.
    pub(crate) by_kernel: bool,
}

/// Ways to have one, from the kernel's own to a program's: what makes the image, and what mounts it.
const WAYS: [(&str, &str); 3] = [
    (
        "mkfs.ext4 -q -O casefold -E encoding_flags=strict image && mkdir disk",
        "mount -o loop image disk && mkdir disk/head && chattr +F disk/head",
    ),
    (
        "mkfs.vfat image && mkdir disk",
        "mount -o loop image disk && mkdir disk/head",
    ),
    (
        "mkntfs -F -Q -q image && mkdir disk",
        "lowntfs-3g -o ignore_case,entry_timeout=0,attr_timeout=0 image disk && mkdir disk/head",
    ),
];

#[expect(
    clippy::disallowed_methods,
    reason = "a disk of its own is made and mounted by the host's programs"
)]
fn run(folder: &Path, script: &str) -> bool {
    Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl FoldingDisk {
    /// In CI it must be there when its kernel has such a file system.
    pub(crate) fn mount() -> Option<Self> {
        let temp = tempfile::tempdir().unwrap();
        for (make, mount) in WAYS {
            let by_kernel = mount.starts_with("mount");
            let disk = Self {
                temp: tempfile::tempdir().unwrap(),
                by_kernel,
            };
            if run(
                disk.temp.path(),
                &format!("truncate -s 32M image && {make}"),
            ) && run(disk.temp.path(), mount)
            {
                std::fs::write(disk.head().join("Probe"), "").unwrap();
                let folds = disk.head().join("pROBE").exists();
                std::fs::remove_file(disk.head().join("Probe")).unwrap();
                if folds {
                    return Some(disk);
                }
            }
        }
        let kernel_can = Path::new("/sys/fs/ext4/features/casefold").exists()
            && run(
                temp.path(),
                "test \"$(id -u)\" = 0 && test -e /dev/loop-control",
            );
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        assert!(
            !(in_ci && kernel_can),
            "no disk that ignores case could be mounted, though the kernel has one"
        );
        let mark = if kernel_can {
            "NOT TESTED"
        } else {
            "NOT POSSIBLE"
        };
        eprintln!(
            "{mark}: no disk that ignores case could be mounted (ext4 casefold, vfat or lowntfs-3g)"
        );
        None
    }

    /// An empty folder on it.
    pub(crate) fn head(&self) -> PathBuf {
        self.temp.path().join("disk/head")
    }
}

impl Drop for FoldingDisk {
    fn drop(&mut self) {
        run(self.temp.path(), "umount disk || umount -l disk");
    }
}
