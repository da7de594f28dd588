//! The lock that keeps Git's own tools from an index while it is written, with the proof of who holds it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use everruns_core::failpoint::hit;
use rustix::fs::{FlockOperation, flock};

use crate::error::{GitError, IoStep as _, Result};
use crate::state::{Holder, durable};

/// The name beside the index under which the new one is made. Only who holds the index's lock uses it.
const TEMPORARY: &str = "index.everruns";

/// How long a lock that somebody else holds is waited for; an editor that looks at the status holds it for less.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the names of the files start with that say who is about to take the lock.
const ANNOUNCEMENT: &str = "index.held-";
/// What their names end with.
const SUFFIX: &str = ".lock";

/// A held `index.lock`, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
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
    /// Takes the lock of the index at `index`, and waits briefly while somebody else holds it; the one that a dead
    /// process of ours left is replaced.
    ///
    /// From the first moment on the lock says who holds it.
    pub(crate) fn take(index: &Path) -> Result<Self> {
        let path = Self::beside(index);
        let announced = Announcement::make(index)?;
        hit("git.index.after-announcement")?;
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match announced.link(&path) {
                Ok(()) => {
                    let index = index.to_owned();
                    return Ok(Self { index, path });
                }
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {
                    if Self::inspect(index)? == Leftover::Dead {
                        Self::remove_dead(index)?;
                    } else if started.elapsed() > PATIENCE {
                        return Err(GitError::Locked {
                            what: path.display().to_string(),
                        });
                    } else {
                        thread::sleep(pause);
                        pause = (pause * 2).min(Duration::from_millis(50));
                    }
                }
                Err(failure) => return Err(failure).step("take the lock", &path),
            }
        }
    }

    /// Makes `bytes` the index, in one step.
    pub(super) fn replace(&self, bytes: &[u8]) -> Result<()> {
        let temporary = self.index.with_file_name(TEMPORARY);
        write_afresh(&temporary, bytes)?;
        let replaced = hit("git.index.after-temporary")
            .map_err(GitError::from)
            .and_then(|()| {
                fs::rename(&temporary, &self.index).step("write the index", &self.index)
            });
        if replaced.is_err() {
            // The first failure is the one to report.
            drop(fs::remove_file(&temporary));
        }
        replaced?;
        Ok(hit("git.index.after-replacement")?)
    }

    /// The bytes of the index, for [`put_back`](Self::put_back); `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>> {
        durable::read(&self.index)
    }

    /// Makes the index again what it was when `bytes` were read.
    pub(crate) fn put_back(&self, bytes: Option<&[u8]>) -> Result<()> {
        if self.read()?.as_deref() == bytes {
            return Ok(());
        }
        match bytes {
            Some(bytes) => self.replace(bytes),
            None => durable::remove(&self.index),
        }
    }

    /// What there is of a lock of the index at `index`.
    pub(crate) fn inspect(index: &Path) -> Result<Leftover> {
        let path = Self::beside(index);
        Ok(match durable::read(&path)? {
            None => Leftover::None,
            Some(text) if is_of_dead(&text) => Leftover::Dead,
            Some(_) => Leftover::Held,
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
            for left in [&index.with_file_name(TEMPORARY), &path] {
                durable::remove(left)?;
            }
        }
        Ok(())
    }

    /// Removes the files by which dead processes of ours were about to take the lock of the index at `index`.
    pub(crate) fn remove_dead_announcements(index: &Path) -> Result<()> {
        for path in Self::dead_announcements(index)? {
            durable::remove(&path)?;
        }
        Ok(())
    }

    /// The files by which dead processes of ours were about to take the lock of the index at `index`.
    pub(crate) fn dead_announcements(index: &Path) -> Result<Vec<PathBuf>> {
        let folder = index.parent().unwrap_or(index);
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(failure) => return Err(failure).step("list", folder),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.step("list", folder)?.path();
            let is_one = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(ANNOUNCEMENT) && name.ends_with(SUFFIX));
            if is_one && durable::read(&path)?.is_some_and(|text| is_of_dead(&text)) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// The lock of the index at `index`.
    pub(crate) fn beside(index: &Path) -> PathBuf {
        index.with_extension("lock")
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if let Err(failure) = fs::remove_file(&self.path) {
            tracing::warn!(lock = %self.path.display(), error = %failure, "a lock can't be removed");
        }
    }
}

/// A file that says which process is about to take a lock, before the lock becomes its second name.
///
/// Processes of several state folders may want the lock of a user's own index at once, so each attempt has a file of
/// its own: what one links is never what another wrote.
#[derive(Debug)]
struct Announcement {
    path: PathBuf,
}

impl Announcement {
    fn make(index: &Path) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let text = Holder::this_process().to_text();
        let process = std::process::id();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = index.with_file_name(format!("{ANNOUNCEMENT}{process}-{number}{SUFFIX}"));
            match create_with(&path, text.as_bytes()) {
                Ok(()) => return Ok(Self { path }),
                // Another container's process of this number, or an earlier one's.
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {}
                Err(failure) => return Err(failure).step("write", &path),
            }
        }
    }

    /// Makes `lock` a second name of this file.
    fn link(&self, lock: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, lock) {
            // A file system without hard links; a crash before the text is written leaves a lock without proof.
            Err(failure)
                if matches!(
                    failure.kind(),
                    io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
                ) =>
            {
                create_with(lock, &fs::read(&self.path)?)
            }
            linked => linked,
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

/// Whether a process of ours that is no more wrote `text`.
fn is_of_dead(text: &[u8]) -> bool {
    let holder = std::str::from_utf8(text).ok().and_then(Holder::from_text);
    holder.is_some_and(|holder| holder.is_dead())
}

/// Makes `path` anew with `bytes`; one that a crash left is replaced, and a link is not followed.
fn write_afresh(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::remove_file(path) {
        Err(failure) if failure.kind() != io::ErrorKind::NotFound => {
            return Err(failure).step("replace", path);
        }
        _ => {}
    }
    create_with(path, bytes).step("write", path)
}

/// Creates `path`, which must not exist, with `bytes`; after a failure there is nothing.
fn create_with(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    let written = options.open(path)?.write_all(bytes);
    if written.is_err() {
        // The first failure is the one to report.
        drop(fs::remove_file(path));
    }
    written
}
