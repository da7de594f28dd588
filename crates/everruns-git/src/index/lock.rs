//! The lock that keeps Git's own tools from an index while it is written, with the proof of who holds it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::{GitError, IoStep as _, Result};
use crate::state::{Holder, durable};

/// The name beside the index under which the new one is made. Only who holds the index's lock uses it.
pub(super) const TEMPORARY: &str = "index.everruns";

/// A held `index.lock`.
#[derive(Debug)]
pub(crate) struct IndexLock {
    path: PathBuf,
}

/// What an `index.lock` that is there turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// There is none.
    None,
    /// A process of ours that is no more left it.
    Dead,
    /// Somebody holds it, or it can't be proved that nobody does.
    Held,
}

impl IndexLock {
    /// Takes the lock of the index at `index`; the one that a dead process of ours left is replaced.
    ///
    /// The caller holds the head's lock, so no other process of ours is doing the same. From the first moment on the
    /// lock says who holds it.
    pub(super) fn take(index: &Path) -> Result<Self> {
        let path = Self::beside(index);
        Self::remove_dead(index)?;
        let named = Self::named(&path);
        let text = Holder::this_process().to_text();
        write_afresh(&named, text.as_bytes())?;
        let linked = match fs::hard_link(&named, &path) {
            // A file system without hard links; a crash before the text is written leaves a lock without proof.
            Err(failure)
                if matches!(
                    failure.kind(),
                    io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
                ) =>
            {
                create_with(&path, text.as_bytes())
            }
            linked => linked,
        };
        fs::remove_file(&named).step("remove", &named)?;
        match linked {
            Ok(()) => Ok(Self { path }),
            Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {
                Err(GitError::Locked {
                    what: path.display().to_string(),
                })
            }
            Err(failure) => Err(failure).step("take the lock", &path),
        }
    }

    /// Gives the lock up.
    pub(super) fn release(self) -> Result<()> {
        fs::remove_file(&self.path).step("remove the lock", &self.path)
    }

    /// What there is of a lock of the index at `index`.
    pub(crate) fn inspect(index: &Path) -> Result<Leftover> {
        let path = Self::beside(index);
        let text = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => return Ok(Leftover::None),
            Err(failure) => return Err(failure).step("read the lock", &path),
        };
        let holder = std::str::from_utf8(&text).ok().and_then(Holder::from_text);
        Ok(match holder {
            Some(holder) if holder.is_dead() => Leftover::Dead,
            _ => Leftover::Held,
        })
    }

    /// Removes the lock of the index at `index`, and what else its holder left, if a dead process of ours did.
    pub(crate) fn remove_dead(index: &Path) -> Result<()> {
        if Self::inspect(index)? != Leftover::Dead {
            return Ok(());
        }
        let path = Self::beside(index);
        let folder = path.parent().unwrap_or(&path);
        let mut options = fs::OpenOptions::new();
        let alone = options.read(true).open(folder).step("open", folder)?;
        // Of two who find the same dead lock, the second must not remove what the first has put in its place.
        flock(&alone, FlockOperation::LockExclusive).step("lock", folder)?;
        if Self::inspect(index)? == Leftover::Dead {
            for left in [&index.with_file_name(TEMPORARY), &Self::named(&path), &path] {
                durable::remove(left)?;
            }
        }
        Ok(())
    }

    /// The file that says who takes the lock at `path`, before it is its second name.
    fn named(path: &Path) -> PathBuf {
        path.with_extension("lock.everruns")
    }

    /// The lock of the index at `index`.
    pub(crate) fn beside(index: &Path) -> PathBuf {
        index.with_extension("lock")
    }
}

/// Makes `path` anew with `bytes`; one that a crash left is replaced, and a link is not followed.
pub(super) fn write_afresh(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::remove_file(path) {
        Err(failure) if failure.kind() != io::ErrorKind::NotFound => {
            return Err(failure).step("replace", path);
        }
        _ => {}
    }
    let written = create_with(path, bytes);
    if written.is_err() {
        // The first failure is the one to report; what is left is replaced the next time.
        drop(fs::remove_file(path));
    }
    written.step("write", path)
}

/// Creates `path`, which must not exist, with `bytes`.
fn create_with(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    options.open(path)?.write_all(bytes)
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // After a release there is nothing left; after a failure the index must not stay locked.
        drop(fs::remove_file(&self.path));
    }
}
