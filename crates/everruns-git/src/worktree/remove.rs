//! Removing a worktree without following links out of it.

use std::fs;
use std::path::Path;

use super::Worktree;
use crate::error::{IoStep as _, Result};
use crate::state::durable;

impl Worktree {
    /// Moves the folder to `trash`, at once and whole; does nothing if it is gone.
    pub(crate) fn discard(&self, trash: &Path) -> Result<()> {
        if fs::symlink_metadata(&self.folder).is_err() {
            return Ok(());
        }
        // A trash folder of an earlier attempt would make the rename fail.
        delete(trash)?;
        durable::rename(&self.folder, trash)
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
