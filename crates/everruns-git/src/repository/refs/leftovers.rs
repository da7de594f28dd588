//! Locks that killed processes of ours left.

use std::fs;
use std::path::{Path, PathBuf};

use super::lock::{HELD, SUFFIX, dead, new_beside, own_folder, remove_if_dead};
use crate::error::{IoStep as _, Result};
use crate::state::durable;

/// A lock that a dead process of ours was about to take, or held.
#[derive(Debug)]
pub(crate) struct DeadLock {
    /// The lock, which may not be there, or be another's.
    pub(crate) lock: PathBuf,
    /// The file that says so.
    held: PathBuf,
}

/// The locks of dead processes in the repository at `common`.
pub(crate) fn dead_locks(common: &Path) -> Result<Vec<DeadLock>> {
    let folder = own_folder(common);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(failure) => return Err(failure).step("list", &folder),
    };
    let mut found = Vec::new();
    for entry in entries {
        let held = entry.step("list", &folder)?.path();
        let is_one = held
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(HELD) && name.ends_with(SUFFIX));
        if !is_one {
            continue;
        }
        if let Some(lock) = durable::read(&held)?.and_then(|text| dead(&text)) {
            found.push(DeadLock {
                lock: common.join(lock),
                held,
            });
        }
    }
    Ok(found)
}

/// Removes what dead processes of ours left of their locks in the repository at `common`.
///
/// A lock that somebody else took in the meantime stays: only what says itself that a dead process holds it goes.
pub(crate) fn remove_dead_locks(common: &Path) -> Result<()> {
    for left in dead_locks(common)? {
        remove_if_dead(common, &left.lock)?;
        durable::remove(&new_beside(&left.held))?;
        // It answers for the others, so it goes last.
        durable::remove(&left.held)?;
    }
    Ok(())
}
