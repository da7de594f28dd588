//! Locks that other processes respect, and that a crash releases.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{GitError, IoStep as _, Result};

/// How long an operation waits for another one before it reports that the thing is locked.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A held lock; dropping it, or the end of the process, releases it.
///
/// The lock file stays: removing it would let two holders lock two different files of one name.
#[derive(Debug)]
pub(crate) struct Lock {
    _held: rustix::fd::OwnedFd,
}

impl Lock {
    /// Waits for the lock at `path`; `what` names it in the error when it doesn't come free.
    pub(crate) fn acquire(path: &Path, what: &str) -> Result<Self> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(lock);
            }
            if started.elapsed() > PATIENCE {
                return Err(GitError::Locked {
                    what: what.to_owned(),
                });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Takes the lock at `path`, or returns `None` if somebody holds it.
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>> {
        Self::attempt(path, FlockOperation::NonBlockingLockExclusive)
    }

    /// Takes the lock at `path` beside others who share it, or returns `None` if somebody holds it alone.
    pub(crate) fn try_share(path: &Path) -> Result<Option<Self>> {
        Self::attempt(path, FlockOperation::NonBlockingLockShared)
    }

    fn attempt(path: &Path, operation: FlockOperation) -> Result<Option<Self>> {
        let file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .step("open the lock", path)?;
        match flock(&file, operation) {
            Ok(()) => Ok(Some(Self { _held: file.into() })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(failure) => Err(failure).step("lock", path),
        }
    }
}
