use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use everruns_core::file_system::{ContentVersion, FileSystemError};
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::kind::Identity;

/// How many locks a tree has. Paths share them by hash, so that the lock folder stays small.
const STRIPES: usize = 64;

/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first and the longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// The locks of one tree, shared by all processes that use the same folder for them.
#[derive(Debug)]
pub(super) struct Locks {
    /// Outside the tree and ours alone, so it is named by its path: a descriptor less for each tree that is open.
    folder: PathBuf,
    tree: Identity,
    /// Keep threads of this process from waiting for the file by polling.
    waiting: Vec<Mutex<()>>,
}

/// A lock that is held. It ends when this is dropped, or when the process does.
#[derive(Debug)]
pub(super) struct Lock<'a> {
    /// Closing the file releases the lock, so it is declared, and dropped, before the mutex's guard.
    pub(super) file: OwnedFd,
    _waiting: MutexGuard<'a, ()>,
}

impl Locks {
    pub(super) fn open(folder: &Path, tree: Identity) -> Result<Self, FileSystemError> {
        let failed = |source| FileSystemError::Io {
            path: WorkspacePath::root(),
            step: "open the lock folder of",
            source,
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let folder = std::path::absolute(folder).map_err(failed)?;
        Ok(Self {
            folder,
            tree,
            waiting: (0..STRIPES).map(|_| Mutex::new(())).collect(),
        })
    }

    /// The lock of the resolved path `key`. `Errno::BUSY` says that another process holds it for too long.
    pub(super) fn acquire(&self, key: &[u8]) -> Result<Lock<'_>, Errno> {
        self.acquire_stripe(stripe(key), Instant::now() + PATIENCE)
    }

    /// The locks of two resolved paths, taken in one order everywhere so that no two callers wait for each
    /// other; the second is `None` when they share one.
    pub(super) fn acquire_both(
        &self,
        keys: [&[u8]; 2],
    ) -> Result<(Lock<'_>, Option<Lock<'_>>), Errno> {
        let mut stripes = keys.map(stripe);
        stripes.sort_unstable();
        let end = Instant::now() + PATIENCE;
        let first = self.acquire_stripe(stripes[0], end)?;
        let second = if stripes[0] == stripes[1] {
            None
        } else {
            Some(self.acquire_stripe(stripes[1], end)?)
        };
        Ok((first, second))
    }

    /// The locks that exist and that nobody holds at the moment, one after the other.
    pub(super) fn idle(&self) -> impl Iterator<Item = Lock<'_>> {
        (0..STRIPES).filter_map(|stripe| {
            let waiting = self.waiting[stripe]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let file = self.open_stripe(stripe, OFlags::empty()).ok()?;
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
            Some(Lock {
                file,
                _waiting: waiting,
            })
        })
    }

    fn acquire_stripe(&self, stripe: usize, end: Instant) -> Result<Lock<'_>, Errno> {
        let waiting = self.waiting[stripe]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let file = self.open_stripe(stripe, OFlags::CREATE)?;
        let (mut pause, longest) = PAUSES;
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    return Ok(Lock {
                        file,
                        _waiting: waiting,
                    });
                }
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if Instant::now() >= end => return Err(Errno::BUSY),
                Err(Errno::WOULDBLOCK) => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(longest);
                }
                Err(errno) => return Err(errno),
            }
        }
    }

    fn open_stripe(&self, stripe: usize, more: OFlags) -> Result<OwnedFd, Errno> {
        let Identity { device, inode } = self.tree;
        let name = format!("{device:x}-{inode:x}-{stripe:02}.lock");
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
        rustix::fs::openat(
            CWD,
            self.folder.join(name),
            flags,
            Mode::from_raw_mode(0o600),
        )
    }
}

/// Any spread will do, as long as every process computes the same.
fn stripe(key: &[u8]) -> usize {
    ContentVersion::of(key)
        .to_string()
        .bytes()
        .take(8)
        .fold(0, |sum, digit| (sum * 31 + usize::from(digit)) % STRIPES)
}
