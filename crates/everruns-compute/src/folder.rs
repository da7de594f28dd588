use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use everruns_core::compute::ComputeError;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::path::{Mount, WorkspacePath};
use rustix::fs::{Mode, OFlags};

/// The folder of a head on this host.
#[derive(Clone, Debug)]
pub(crate) struct HeadFolder(PathBuf);

impl HeadFolder {
    /// Where the head's files are, when they are on this host at all.
    pub(crate) fn of(files: &Arc<dyn SessionFileSystem>) -> Result<Self, ComputeError> {
        let root = WorkspacePath::root();
        match files.host_path(&root) {
            Some(path) => Ok(Self(path)),
            None => Err(ComputeError::WorkingFolder { path: root }),
        }
    }

    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Opens the head's own folder.
    pub(crate) fn open(&self) -> Result<OwnedFd, ComputeError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(&self.0, flags, Mode::empty()).map_err(|_| ComputeError::WorkingFolder {
            path: WorkspacePath::root(),
        })
    }

    /// Makes a folder at the top where there is none.
    #[cfg(target_os = "linux")]
    pub(crate) fn make(&self, name: &str) -> Result<(), ComputeError> {
        let root = WorkspacePath::root();
        let path = root
            .join(name)
            .map_err(|_| ComputeError::WorkingFolder { path: root })?;
        let refused = || ComputeError::WorkingFolder { path: path.clone() };
        if path.components().count() != 1 || path.is_git_internal() {
            return Err(refused());
        }
        match rustix::fs::mkdirat(self.open()?, path.relative(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => self.open_below(&path).map(drop),
            Err(_) => Err(refused()),
        }
    }

    /// Opens a folder of the head. Links are followed only as far as they stay in the head.
    pub(crate) fn open_below(&self, path: &WorkspacePath) -> Result<OwnedFd, ComputeError> {
        let refused = || ComputeError::WorkingFolder { path: path.clone() };
        if *path.mount() != Mount::Head || path.is_git_internal() {
            return Err(refused());
        }
        let head = self.open()?;
        if path.is_top() {
            return Ok(head);
        }
        open_beneath(&head, path.relative()).map_err(|_| refused())
    }
}

#[cfg(target_os = "linux")]
fn open_beneath(head: &OwnedFd, relative: &str) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(head, relative, flags, Mode::empty(), resolve)?)
}

/// Without the kernel's help no link is followed at all.
#[cfg(not(target_os = "linux"))]
fn open_beneath(head: &OwnedFd, relative: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = head.try_clone()?;
    for name in relative.split('/') {
        folder = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
    }
    Ok(folder)
}
