//! Removing a worktree without following links out of it.

use std::ffi::OsStr;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::{fs, io};

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags};

use super::Worktree;
use crate::error::{GitError, IoStep as _, Result};
use crate::state::durable;

impl Worktree {
    /// Moves the folder to `aside`, at once and whole, where nobody looks for it; `false` if it is gone.
    ///
    /// A crash may bring it back to where it was.
    pub(crate) fn set_aside(&self, aside: &Path) -> Result<bool> {
        match fs::rename(&self.folder, aside) {
            Ok(()) => Ok(true),
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(failure) => Err(failure).step("move", &self.folder),
        }
    }

    /// Moves the folder back that was moved `aside`; does nothing if none was.
    pub(crate) fn put_back(&self, aside: &Path) -> Result<()> {
        if fs::symlink_metadata(aside).is_err() {
            return Ok(());
        }
        if fs::symlink_metadata(&self.folder).is_ok() {
            return Err(GitError::InTheWay {
                paths: vec![self.folder.display().to_string()],
            });
        }
        durable::rename(aside, &self.folder)
    }

    /// Moves the folder that was moved `aside` to `trash`; does nothing if none was.
    pub(crate) fn discard(&self, aside: &Path, trash: &Path) -> Result<()> {
        if fs::symlink_metadata(aside).is_err() {
            return Ok(());
        }
        // A trash folder of an earlier attempt would make the rename fail.
        delete(trash)?;
        durable::rename(aside, trash)?;
        match self.folder.parent() {
            Some(parent) => durable::sync_folder(parent),
            None => Ok(()),
        }
    }

    /// Whether the repository has a record that names this folder.
    pub(crate) fn is_registered(&self) -> Result<bool> {
        let named = durable::read(&self.record.join("gitdir"))?;
        Ok(named.is_some_and(|named| named == self.forward()))
    }

    /// Removes the record from the repository, if it still names this folder.
    pub(crate) fn unregister(&self) -> Result<()> {
        let names_this = match durable::read(&self.record.join("gitdir"))? {
            Some(bytes) => bytes == self.forward(),
            // A crash during registration leaves the folder without this file; the name is this head's alone.
            None => true,
        };
        if names_this {
            delete(&self.record)?;
        }
        // As Git does: no folder for worktrees where there are none. One that isn't empty stays by itself.
        if let Some(all) = self.record.parent() {
            drop(fs::remove_dir(all));
        }
        Ok(())
    }
}

/// Deletes `path` with everything below it, folders that nobody may write into included; links are removed, never
/// followed.
pub(crate) fn delete(path: &Path) -> Result<()> {
    match remove(path) {
        Err(failure) if failure.is_denied() => {
            // What then still can't be removed says why.
            if let Err(failure) = allow_removal(path) {
                tracing::debug!(path = %path.display(), error = %failure, "not all of it can be made writable");
            }
            remove(path)
        }
        outcome => outcome,
    }
}

fn remove(path: &Path) -> Result<()> {
    let outcome = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(failure) => Err(failure),
    };
    match outcome {
        Err(failure) if failure.kind() != io::ErrorKind::NotFound => {
            Err(failure).step("delete", path)
        }
        _ => Ok(()),
    }
}

/// Gives the owner of the folder at `path`, and of all folders below it, the right to remove what is in them.
fn allow_removal(path: &Path) -> io::Result<()> {
    let above = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    allow_removal_in(&rustix::fs::open(above, flags, Mode::empty())?, name)
}

/// The same for the folder `name` in `above`, which is held open, so that no link that takes its place is followed.
fn allow_removal_in(above: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(above, name, flags | OFlags::PATH, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // The mode of a handle that may only be looked at can't be changed but by this name of it.
        let held = format!("/proc/self/fd/{}", folder.as_raw_fd());
        rustix::fs::chmod(held, mode | Mode::RWXU)?;
    }
    let mut folders = Vec::new();
    {
        let listed = rustix::fs::openat(&folder, ".", flags | OFlags::RDONLY, Mode::empty())?;
        for entry in rustix::fs::Dir::new(listed)? {
            let entry = entry?;
            let may_be_folder =
                matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            let name = entry.file_name().to_bytes();
            if may_be_folder && name != b"." && name != b".." {
                folders.push(OsStr::from_bytes(name).to_owned());
            }
        }
    }
    for name in folders {
        match allow_removal_in(&folder, &name) {
            Err(failure) if failure.kind() == io::ErrorKind::NotADirectory => {}
            outcome => outcome?,
        }
    }
    Ok(())
}
