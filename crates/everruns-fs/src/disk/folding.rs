//! Disks that take several spellings for one name.
//!
//! Such a disk finds `secret` by `SECRET`, or a name by its other Unicode normalisation. What decides about a path,
//! a policy or a lock, must then know the name that is stored. Whether a tree is on such a disk is found out by
//! looking for an entry of its top folder by another spelling. A folder that alone ignores case, in a tree that does
//! not, is not found out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicU8, Ordering};

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode};

use super::errors::at;
use super::flags::FOLDER;
use super::kind::Identity;
use super::list::for_each_entry;
use super::resolve::listed;

const EXACT: u8 = 1;
const FOLDS: u8 = 2;

/// Whether the disk takes several spellings for one name, once that is known.
///
/// Anything but the two values above says that it is not.
#[derive(Debug, Default)]
pub(super) struct Folding(AtomicU8);

impl Folding {
    /// Whether the names of paths must be looked up. As long as the top folder holds no name to find it out by, they
    /// must.
    pub(super) fn is_possible(&self, root: BorrowedFd<'_>) -> bool {
        match self.0.load(Ordering::Relaxed) {
            EXACT => false,
            FOLDS => true,
            _ => self.find_out(root),
        }
    }

    fn find_out(&self, root: BorrowedFd<'_>) -> bool {
        let Ok(names) = names_in(root, &WorkspacePath::root()) else {
            return true;
        };
        let spelled = names
            .iter()
            .find_map(|name| Some((name, other_spelling(name)?)));
        let Some((name, other)) = spelled else {
            return true;
        };
        let (entry, twin) = (identity(root, name), identity(root, &other));
        if entry.is_none() || identity(root, name) != entry {
            // Somebody changes it at this moment.
            return true;
        }
        // Two entries are two names, even when they are of one file.
        let folds = if twin.is_none() || names.contains(&other) {
            false
        } else if twin == entry {
            true
        } else {
            return true;
        };
        self.0
            .store(if folds { FOLDS } else { EXACT }, Ordering::Relaxed);
        folds
    }
}

/// The name with the case of its letters swapped; `None` when it has none.
fn other_spelling(name: &[u8]) -> Option<Vec<u8>> {
    let swapped: Vec<u8> = name
        .iter()
        .map(|byte| byte ^ (u8::from(byte.is_ascii_alphabetic()) << 5))
        .collect();
    (swapped != name).then_some(swapped)
}

/// The components of a resolved path as they are stored, as far as they exist.
pub(super) fn stored_names(
    root: BorrowedFd<'_>,
    path: &WorkspacePath,
    resolved: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, FileSystemError> {
    let mut stored = Vec::with_capacity(resolved.len());
    let mut folder: Option<OwnedFd> = None;
    for name in resolved {
        let here = folder.as_ref().map_or(root, |folder| folder.as_fd());
        let names = names_in(here, path)?;
        let is_same = |candidate: &&Vec<u8>| {
            identity(here, name).is_some_and(|wanted| identity(here, candidate) == Some(wanted))
        };
        let found = if names.contains(name) {
            Some(name)
        } else {
            names.iter().find(is_same)
        };
        let Some(found) = found else {
            break;
        };
        let next = rustix::fs::openat(here, OsStr::from_bytes(name), FOLDER, Mode::empty());
        stored.push(found.clone());
        match next {
            Ok(next) => folder = Some(next),
            Err(_) => break,
        }
    }
    stored.extend(resolved.iter().skip(stored.len()).cloned());
    Ok(stored)
}

fn names_in(folder: BorrowedFd<'_>, path: &WorkspacePath) -> Result<Vec<Vec<u8>>, FileSystemError> {
    let folder = listed(folder).map_err(at(path, "list a folder on the way to"))?;
    let mut names = Vec::new();
    for_each_entry(folder, path, |name, _| names.push(name.to_vec()))?;
    Ok(names)
}

fn identity(folder: BorrowedFd<'_>, name: &[u8]) -> Option<Identity> {
    let name = OsStr::from_bytes(name);
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(Identity::of(&stat))
}
