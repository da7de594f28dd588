//! Removing a worktree without following links out of it.

use std::fs;
use std::path::Path;

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
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => Ok(false),
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

/// Deletes `path` with everything below it; links are removed, never followed.
pub(crate) fn delete(path: &Path) -> Result<()> {
    let outcome = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(failure) => Err(failure),
    };
    match outcome {
        Err(failure) if failure.kind() != std::io::ErrorKind::NotFound => {
            Err(failure).step("delete", path)
        }
        _ => Ok(()),
    }
}
