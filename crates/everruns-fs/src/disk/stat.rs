use everruns_core::file_system::{FileStat, FileSystemError, LastLink};
use everruns_core::path::WorkspacePath;
use rustix::fs::{AtFlags, Stat};

use super::errors::at;
use super::kind::file_stat;
use super::resolve::{Missing, Place};
use super::tree::Tree;

impl Tree {
    pub(super) fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        let place = self.place(path, LastLink::Keep, Missing::Fail)?;
        Ok(file_stat(&stat_place(&place, path)?))
    }

    pub(super) fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        let place = self.place(path, last, Missing::Keep)?;
        let is_dangling = place.through_link && stat_place(&place, path).is_err();
        if is_dangling {
            return Err(FileSystemError::NotFound { path: path.clone() });
        }
        let Ok(relative) = String::from_utf8(place.stored_path()) else {
            return Err(FileSystemError::InvalidOperation {
                path: path.clone(),
                reason: "a link on the way leads through a name that is not Unicode",
            });
        };
        if relative.is_empty() {
            return Ok(WorkspacePath::root());
        }
        Ok(WorkspacePath::root().join(&relative)?)
    }
}

/// What is at `place`; a link itself.
pub(super) fn stat_place(place: &Place, path: &WorkspacePath) -> Result<Stat, FileSystemError> {
    let found = match &place.name {
        Some(name) => rustix::fs::statat(&place.folder, name, AtFlags::SYMLINK_NOFOLLOW),
        None => rustix::fs::fstat(&place.folder),
    };
    found.map_err(at(path, "look at"))
}
