use everruns_core::file_system::{FileKind, FileSystemError, LastLink, Precondition, Removal};
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::errors::{at, step};
use super::existing::Found;
use super::flags::LISTED_FOLDER;
use super::kind::kind;
use super::list::for_each_entry;
use super::names::is_git_name;
use super::resolve::{Missing, Place, listed};
use super::stat::stat_place;
use super::tree::{Tree, again_while_changing};

/// The deepest folder that is removed with all below it; each level holds a descriptor.
const MAX_LEVELS: usize = 512;

impl Tree {
    pub(super) fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        self.enter_existing(path)?;
        if path.is_top() {
            return Err(FileSystemError::InvalidOperation {
                path: path.clone(),
                reason: "the top folder cannot be removed",
            });
        }
        again_while_changing(path, || self.try_remove(path, removal, precondition))
    }

    fn try_remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<Option<()>, FileSystemError> {
        let place = self.place(path, LastLink::Keep, Missing::Fail)?;
        let lock = self.lock(path, &place.key())?;
        let kind = kind(&stat_place(&place, path)?);
        let flushed = listed(&place.folder).map_err(at(path, "open the folder of"))?;
        if precondition != Precondition::Any {
            if kind != FileKind::File {
                return Err(FileSystemError::NotAFile {
                    path: path.clone(),
                    kind,
                });
            }
            match self.find(&place, path, precondition)? {
                Found::File(existing) => precondition.check(path, existing.version)?,
                Found::Nothing | Found::Other(_) | Found::Changed => return Ok(None),
            }
        }
        step("fs.remove.after-check", path)?;
        let name = place.name(path)?;
        let removed = match (kind, removal) {
            (FileKind::Directory, Removal::Entry) => {
                rustix::fs::unlinkat(&place.folder, name, AtFlags::REMOVEDIR)
                    .map_err(at(path, "remove the folder"))
            }
            (FileKind::Directory, Removal::Recursive) => remove_folder(&place, path),
            _ => match rustix::fs::unlinkat(&place.folder, name, AtFlags::empty()) {
                // It became a folder meanwhile.
                Err(Errno::ISDIR) => return Ok(None),
                other => other.map_err(at(path, "remove")),
            },
        };
        removed?;
        step("fs.remove.after-unlink", path)?;
        rustix::fs::fsync(&flushed).map_err(at(path, "flush the folder of"))?;
        drop(lock);
        Ok(Some(()))
    }
}

/// Removes the folder at `place` with all below it, each entry by its name in its open folder: a folder that
/// somebody replaces by a link meanwhile is removed as the link it has become.
fn remove_folder(place: &Place, path: &WorkspacePath) -> Result<(), FileSystemError> {
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
