//! Calls that say whether a link was on the way.

use everruns_core::file_system::{FileContent, FileStat, FileSystemError, LastLink, ReadRange};
use everruns_core::path::WorkspacePath;
use rustix::fd::AsFd as _;

use super::errors::at;
use super::flags::READ;
use super::kind::file_stat;
use super::read::{opened_special, read_whole};
use super::stat::stat_place;
use super::tree::Tree;

impl Tree {
    /// The content of the file at `path`; `None` when there is a link on the way, or only the walk can tell.
    pub(super) fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        let opened = self
            .resolver
            .open_without_links(self.root.as_fd(), path, READ)
            .map_err(at(path, "open"))
            .map_err(|error| opened_special(path, error))?;
        let Some(file) = opened else {
            return Ok(None);
        };
        let (bytes, _) = read_whole(&file, path, self.max_file_bytes)?;
        Ok(Some(FileContent::of(&bytes, range)))
    }

    /// What is at `path`; `None` when there is a link on the way, or only the walk can tell.
    pub(super) fn stat_direct(
        &self,
        path: &WorkspacePath,
    ) -> Result<Option<FileStat>, FileSystemError> {
        let place = self
            .resolver
            .place_without_links(self.root.as_fd(), path, LastLink::Keep)?;
        let Some(place) = place else {
            return Ok(None);
        };
        Ok(Some(file_stat(&stat_place(&place, path)?)))
    }
}
