//! What restorations leave beside a database when their process ends, and the end of it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use everruns_core::session::StoreError;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::super::backup::failed;
use super::names::{flush_folder, is_there, remove, rename_free, with_suffix};
use super::run::REPLACE;

/// In the name of a copy that is being made, before the process and a number.
const MAKING: &str = ".restoring-";
/// In the name that the copy has before it is exchanged, and the old database after it, before the inode of the copy.
const EXCHANGING: &str = ".replacing-";
/// What the names of what belongs to a copy end with.
const PARTS: [&str; 7] = [
    "",
    ".part",
    ".part-journal",
    ".part-wal",
    ".part-shm",
    "-wal",
    "-shm",
];

/// Tells those apart that are at work in one process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Keeps other restorations out of a folder. It ends with its process, so that what one of them left is known to be
/// nobody's.
pub(super) struct Alone {
    _folder: OwnedFd,
}

impl Alone {
    /// Waits for nobody: `InUse` while another restoration is at work. `None` where the file system has no such locks.
    pub(super) fn take(location: &Path) -> Result<Option<Self>, StoreError> {
        let folder = location.parent().unwrap_or(location);
        let opened = rustix::fs::open(folder, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let folder = opened.map_err(|error| failed(REPLACE, error.into()))?;
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _folder: folder })),
            Err(Errno::WOULDBLOCK) => Err(StoreError::InUse {
                location: location.to_owned(),
            }),
            Err(_) => Ok(None),
        }
    }
}

/// Removes copies that were not exchanged, and gives an old database that was the name it was to have. Who calls is the
/// only one at work in the folder.
pub(super) fn clear(_alone: &Alone, folder: &Path) -> Result<(), StoreError> {
    let entries = std::fs::read_dir(folder).map_err(|error| failed(REPLACE, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(REPLACE, error))?;
        let kind = entry.file_type().map_err(|error| failed(REPLACE, error))?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|_| kind.is_file()) else {
            continue;
        };
        if is_unfinished(name) {
            remove(entry.path())?;
        } else if let Some((aside, inode)) = exchanged(name) {
            let found = entry.metadata().map_err(|error| failed(REPLACE, error))?;
            if found.ino() == inode {
                remove(entry.path())?;
            } else if !is_there(&folder.join(aside), "")? {
                rename_free(&entry.path(), &folder.join(aside))?;
            }
        }
    }
    flush_folder(&folder.join("any"))
}

/// The name under which a copy is made.
pub(super) fn making(aside: &Path) -> PathBuf {
    let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    with_suffix(aside, &format!("{MAKING}{process}-{number}"))
}

/// The name under which the copy `new` is exchanged. It tells of what has it whether that was done: who comes later sees
/// whether it is the copy or the database before.
pub(super) fn exchanging(aside: &Path, new: &Path) -> io::Result<PathBuf> {
    let inode = std::fs::symlink_metadata(new)?.ino();
    Ok(with_suffix(aside, &format!("{EXCHANGING}{inode}")))
}

fn is_unfinished(name: &str) -> bool {
    PARTS.iter().any(|part| {
        let numbers = name
            .strip_suffix(part)
            .and_then(|name| name.rsplit_once(MAKING))
            .and_then(|(_, numbers)| numbers.split_once('-'));
        numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
    })
}

fn exchanged(name: &str) -> Option<(&str, u64)> {
    let (aside, inode) = name.rsplit_once(EXCHANGING)?;
    let inode = inode.parse().ok().filter(|_| is_number(inode))?;
    (!aside.is_empty()).then_some((aside, inode))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_its_own_are_known() {
        let of = |part: &str| format!("sessions.db.before-2026{MAKING}12-3{part}");
        for part in PARTS {
            assert!(is_unfinished(&of(part)), "{part}");
        }
        for other in ["-x", ".gz", "-journal2", ".part.gz"] {
            assert!(!is_unfinished(&of(other)), "{other}");
        }
        for other in ["sessions.db", "sessions.db.restoring", "a.restoring-x-1"] {
            assert!(!is_unfinished(other), "{other}");
        }
        assert_eq!(exchanged("aside.replacing-12"), Some(("aside", 12)));
        for other in [
            "aside.replacing-",
            "aside.replacing-1x",
            ".replacing-1",
            "aside",
        ] {
            assert_eq!(exchanged(other), None, "{other}");
        }
    }
}
