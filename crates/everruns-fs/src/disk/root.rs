use std::io;
use std::path::{Path, PathBuf};

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::errors::system;
use super::kind::Identity;
use super::proof::Proof;

/// The top folder, held open.
#[derive(Debug)]
pub(super) struct Root {
    folder: OwnedFd,
    path: PathBuf,
    identity: Identity,
    proof: Proof,
}

impl Root {
    /// Opens the folder at `path`, which may be reached through links.
    pub(super) fn open(path: &Path) -> Result<Self, FileSystemError> {
        let top = WorkspacePath::root();
        let path = std::path::absolute(path).map_err(|source| FileSystemError::Io {
            path: top.clone(),
            step: "open the folder of",
            source,
        })?;
        let failed = |errno: Errno| match errno {
            Errno::MFILE | Errno::NFILE => system(&top, "open the folder of", errno),
            _ => FileSystemError::Io {
                path: top.clone(),
                step: "open the folder of",
                source: errno.into(),
            },
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(failed)?;
        let stat = rustix::fs::fstat(&folder).map_err(failed)?;
        Ok(Self {
            folder,
            path,
            identity: Identity::of(&stat),
            proof: Proof::none(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// As [`verify`](Self::verify), but a [`Proof`] of a moment ago will do.
    pub(super) fn verify_lately(&self) -> Result<(), FileSystemError> {
        let Ok(stat) = rustix::fs::fstat(&self.folder) else {
            return self.verify();
        };
        let now = self.proof.now(&stat);
        if self.proof.is_good(now) {
            return Ok(());
        }
        self.verify()?;
        self.proof.keep(now);
        Ok(())
    }

    /// Proves that the path still leads to the folder that was opened.
    pub(super) fn verify(&self) -> Result<(), FileSystemError> {
        self.prove().inspect_err(|_| self.proof.forget())
    }

    fn prove(&self) -> Result<(), FileSystemError> {
        // A model may see the error, so where the folder lies on the host is told to the log alone.
        let stale = |reason: String| {
            tracing::warn!(path = %self.path.display(), reason, "the folder of a tree is stale");
            Err(FileSystemError::StaleRoot { reason })
        };
        match rustix::fs::stat(&self.path) {
            Ok(stat) if Identity::of(&stat) == self.identity => Ok(()),
            Ok(_) => stale("another folder is in its place".to_owned()),
            Err(errno @ (Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => {
                stale(io::Error::from(errno).to_string())
            }
            Err(errno) => Err(FileSystemError::Io {
                path: WorkspacePath::root(),
                step: "look at the folder of",
                source: errno.into(),
            }),
        }
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}
