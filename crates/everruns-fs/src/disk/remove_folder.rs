use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::errors::{at, step};
use super::flags::LISTED_FOLDER;
use super::list::for_each_entry;
use super::names::is_git_name;
use super::resolve::Place;
use super::tree::again_while_changing;

/// The deepest folder that is removed with all below it; each level holds a descriptor.
const MAX_LEVELS: usize = 512;

/// Removes the folder at `place` with all below it, each entry by its name in its open folder: a folder that
/// somebody replaces by a link meanwhile is removed as the link it has become.
pub(super) fn remove_folder(place: &Place, path: &WorkspacePath) -> Result<(), FileSystemError> {
    let name = place.name(path)?;
    let folder = open_folder(&place.folder, name, path)?;
    if let Some(folder) = folder {
        must_hold_no_repository(&folder, path, MAX_LEVELS)?;
        empty_folder(&folder, path, MAX_LEVELS)?;
    }
    match rustix::fs::unlinkat(&place.folder, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTDIR) => {
            rustix::fs::unlinkat(&place.folder, name, AtFlags::empty()).map_err(at(path, "remove"))
        }
        other => other.map_err(at(path, "remove the folder")),
    }
}

/// Git's own folder is no part of the tree, so it is not removed with it; this is found out before anything is.
fn must_hold_no_repository(
    folder: &OwnedFd,
    path: &WorkspacePath,
    levels: usize,
) -> Result<(), FileSystemError> {
    for name in names(folder, path)? {
        if is_git_name(&name) {
            return Err(FileSystemError::GitInternal { path: path.clone() });
        }
        if let Some(below) = open_folder(folder, &name, path)? {
            must_hold_no_repository(&below, path, deeper(levels, path)?)?;
        }
    }
    Ok(())
}

fn empty_folder(
    folder: &OwnedFd,
    path: &WorkspacePath,
    levels: usize,
) -> Result<(), FileSystemError> {
    for name in names(folder, path)? {
        if is_git_name(&name) {
            return Err(FileSystemError::GitInternal { path: path.clone() });
        }
        step("fs.remove.between-entries", path)?;
        again_while_changing(path, || remove_entry(folder, &name, path, levels))?;
    }
    Ok(())
}

/// Removes the entry `name` whatever it is; `None` when it became something else meanwhile.
fn remove_entry(
    folder: &OwnedFd,
    name: &[u8],
    path: &WorkspacePath,
    levels: usize,
) -> Result<Option<()>, FileSystemError> {
    let removed = match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        // Linux says EISDIR of a folder, others EPERM.
        Err(Errno::ISDIR | Errno::PERM) => {
            let Some(below) = open_folder(folder, name, path)? else {
                return Ok(None);
            };
            empty_folder(&below, path, deeper(levels, path)?)?;
            rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
        }
        other => other,
    };
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(Some(())),
        Err(Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(at(path, "remove an entry of")(errno)),
    }
}

fn names(folder: &OwnedFd, path: &WorkspacePath) -> Result<Vec<Vec<u8>>, FileSystemError> {
    let mut names = Vec::new();
    for_each_entry(folder, path, |name, _| names.push(name.to_vec()))?;
    Ok(names)
}

/// Opens the folder `name` itself; `None` when it is no folder.
fn open_folder<N: rustix::path::Arg>(
    folder: &OwnedFd,
    name: N,
    path: &WorkspacePath,
) -> Result<Option<OwnedFd>, FileSystemError> {
    match rustix::fs::openat(folder, name, LISTED_FOLDER, Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => Ok(None),
        Err(errno) => Err(at(path, "open a folder in")(errno)),
    }
}

fn deeper(levels: usize, path: &WorkspacePath) -> Result<usize, FileSystemError> {
    levels
        .checked_sub(1)
        .ok_or_else(|| FileSystemError::InvalidOperation {
            path: path.clone(),
            reason: "the folder is nested too deeply to be removed in one go",
        })
}
