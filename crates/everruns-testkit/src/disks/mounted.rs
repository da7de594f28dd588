//! Disks that are made and mounted by the host's programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Runs `script` with `sh -e` in `folder`, and tells whether it succeeded. What it prints is dropped.
#[expect(
    clippy::disallowed_methods,
    reason = "only the host's programs make and mount disks"
)]
pub fn run(folder: &Path, script: &str) -> bool {
    // Where administrators' programs are, which not everybody's path leads to.
    let script = format!("PATH=$PATH:/usr/sbin:/sbin; {script}");
    Command::new("sh")
        .args(["-ec", &script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A mounted disk, which goes when it is dropped.
#[derive(Debug)]
pub struct MountedDisk {
    temp: TempDir,
}

impl MountedDisk {
    /// Makes a disk with `script`, which leaves it mounted at the folder `disk`, there already, of the folder that it
    /// runs in. `needs` says what that takes.
    ///
    /// `None` where it doesn't work, told on standard error.
    ///
    /// # Panics
    ///
    /// If it doesn't work in CI, where everything that tests need is installed.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "what isn't tested must be heard of")]
    pub fn make(needs: &str, script: &str) -> Option<Self> {
        let disk = Self {
            temp: tempfile::tempdir().expect("a temporary folder"),
        };
        if disk.run(&format!("mkdir disk; {script}")) {
            return Some(disk);
        }
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        assert!(
            !in_ci,
            "no disk of a test's own could be mounted: it takes {needs}"
        );
        eprintln!("NOT TESTED: no disk of its own could be mounted, which takes {needs}");
        None
    }

    /// The folder at which it is mounted.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.temp.path().join("disk")
    }

    /// The folder in which it was made, which lies on another disk.
    #[must_use]
    pub fn beside(&self) -> &Path {
        self.temp.path()
    }

    /// Runs `script` in the folder in which the disk was made, and tells whether it succeeded.
    #[must_use]
    pub fn run(&self, script: &str) -> bool {
        run(self.temp.path(), script)
    }
}

impl Drop for MountedDisk {
    fn drop(&mut self) {
        let unmounted = self.run("mountpoint -q disk || exit 0; umount disk || umount -l disk");
        assert!(
            std::thread::panicking() || unmounted,
            "the disk stays mounted"
        );
    }
}
