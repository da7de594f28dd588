//! The lock files that Git's own tools respect, with the proof of who holds them.
//!
//! Whoever takes a lock first writes down who it is and which lock it is about to take, in a file below `refs/everruns/`,
//! and then makes the lock a second name of that file. So from its first moment on a lock says who holds it, and what a
//! killed process leaves is found without looking through all references.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::error::{GitError, IoStep as _, Result};
use crate::state::{Holder, path_text};

/// How long a lock that somebody else holds is waited for, as long as Git waits for that of the packed references.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the names of the files start with that say who holds a lock.
pub(super) const HELD: &str = "held-";
/// What the names of the files start with that become references.
const NEW: &str = "new-";
/// What all their names end with. Git takes nothing for a reference that does.
pub(super) const SUFFIX: &str = ".lock";
/// The line that says which lock it is.
const LOCK_LINE: &str = "lock ";

/// The folder of this backend's own references, where the files lie.
pub(super) fn own_folder(common: &Path) -> PathBuf {
    common.join("refs/everruns")
}

/// A held lock of a reference, or of the packed ones.
#[derive(Debug)]
pub(super) struct RefLock {
    lock: PathBuf,
    held: PathBuf,
    new: PathBuf,
}

impl RefLock {
    /// Takes the lock of `name`, which is below the folder `common`. The one that a dead process of ours left is
    /// replaced; no other is.
    pub(super) fn take(common: &Path, name: &str) -> Result<Self> {
        let mut taken = Self::announce(common, name)?;
        let lock = common.join(format!("{name}{SUFFIX}"));
        let step = "take the lock";
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match link(&taken.held, &lock) {
                Ok(()) => {
                    taken.lock = lock;
                    return Ok(taken);
                }
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {
                    if remove_if_dead(common, &lock)? {
                        continue;
                    }
                    if started.elapsed() > PATIENCE {
                        return Err(GitError::Locked {
                            what: lock.display().to_string(),
                        });
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
                // Whoever deletes the last reference of a folder takes the folder along.
                Err(failure)
                    if failure.kind() == io::ErrorKind::NotFound
                        && started.elapsed() < PATIENCE =>
                {
                    let folder = lock.parent().unwrap_or(common);
                    fs::create_dir_all(folder).step("create", folder)?;
                }
                Err(failure) => return Err(failure).step(step, &lock),
            }
        }
    }

    /// Writes down who is about to take the lock of `name`.
    fn announce(common: &Path, name: &str) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let folder = own_folder(common);
        let lock = path_text::encode(format!("{name}{SUFFIX}").as_bytes());
        let text = format!("{}{LOCK_LINE}{lock}\n", Holder::this_process().to_text());
        let process = std::process::id();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let held = folder.join(format!("{HELD}{process}-{number}{SUFFIX}"));
            match create(&held, text.as_bytes()) {
                Ok(()) => {
                    return Ok(Self {
                        // Until it is taken, there is no other name to remove.
                        lock: held.clone(),
                        new: new_beside(&held),
                        held,
                    });
                }
                // That of an earlier process of the same number.
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {}
                Err(failure) if failure.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(&folder).step("create", &folder)?;
                }
                Err(failure) => {
                    drop(fs::remove_file(&held));
                    return Err(failure).step("write", &held);
                }
            }
        }
    }

    /// Replaces `path` by a file with `bytes`; a crash leaves the old or the new one.
    pub(super) fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        drop(fs::remove_file(&self.new));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = options.open(&self.new).step("create", &self.new)?;
        file.write_all(bytes).step("write", &self.new)?;
        file.sync_all().step("flush", &self.new)?;
        match fs::rename(&self.new, path) {
            Err(failure) if failure.kind() == io::ErrorKind::IsADirectory => {
                remove_empty(path);
                fs::rename(&self.new, path).step("replace", path)
            }
            outcome => outcome.step("replace", path),
        }
    }
}

impl Drop for RefLock {
    fn drop(&mut self) {
        // The file that answers for the others goes last.
        for path in [&self.lock, &self.new, &self.held] {
            drop(fs::remove_file(path));
        }
    }
}

/// The file that becomes a reference, beside the one that says who makes it.
pub(super) fn new_beside(held: &Path) -> PathBuf {
    let name = held.file_name().and_then(|name| name.to_str());
    let rest = name.and_then(|name| name.strip_prefix(HELD));
    held.with_file_name(format!("{NEW}{}", rest.unwrap_or_default()))
}

/// Makes `lock` a second name of `held`, or a file of the same content where there are no second names.
fn link(held: &Path, lock: &Path) -> io::Result<()> {
    match fs::hard_link(held, lock) {
        Err(failure)
            if matches!(
                failure.kind(),
                io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            create(lock, &fs::read(held)?)
        }
        linked => linked,
    }
}

fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    options.open(path)?.write_all(bytes)
}

/// Removes empty folders in the place of a reference, which Git leaves there.
fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    drop(fs::remove_dir(folder));
}

/// Whether the lock file at `path` is of a process of ours that is no more; `None` if there is no such file.
pub(crate) fn is_of_dead(path: &Path) -> Result<Option<bool>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(dead(&bytes).is_some())),
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(failure) => Err(failure).step("read the lock", path),
    }
}

/// The lock that a dead process of ours wrote `text` about, if one did.
pub(super) fn dead(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let lock = text.lines().last()?.strip_prefix(LOCK_LINE)?;
    let lock = String::from_utf8(path_text::decode(lock)?).ok()?;
    // Whatever lies in a repository could have been put there.
    let is_one = lock.ends_with(SUFFIX)
        && (lock.starts_with("refs/") || lock == "packed-refs.lock")
        && lock.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let holder = Holder::from_text(text)?;
    (is_one && holder.is_dead()).then_some(lock)
}

/// Removes the lock file at `path` if a dead process of ours left it; whether there may be room now.
pub(super) fn remove_if_dead(common: &Path, path: &Path) -> Result<bool> {
    if is_of_dead(path)? == Some(false) {
        return Ok(false);
    }
    let folder = own_folder(common);
    let mut options = fs::OpenOptions::new();
    let alone = options.read(true).open(&folder).step("open", &folder)?;
    // Of two who find the same dead lock, the second must not remove what the first has put in its place.
    flock(&alone, FlockOperation::LockExclusive).step("lock", &folder)?;
    match is_of_dead(path)? {
        Some(true) => fs::remove_file(path)
            .step("remove the lock", path)
            .map(|()| true),
        Some(false) => Ok(false),
        None => Ok(true),
    }
}
