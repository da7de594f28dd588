use std::sync::Arc;

use everruns_core::file_system::{FileKind, FileSystemError};
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::errors::at;
use super::flags::{LISTED_FOLDER, READ};
use super::kind::{kind, kind_of};
use super::list::for_each_name;
use super::read::{opened_special, read_whole};
use super::tree::Tree;
use crate::search::{SearchSource, SourceEntry, SourceFile};

/// Shows a tree to a search. Only the searched folder is resolved; from there on each folder and file is opened
/// by its name in the folder before, without following links.
#[derive(Debug)]
pub(super) struct DiskSource {
    tree: Arc<Tree>,
}

impl DiskSource {
    pub(super) fn new(tree: Arc<Tree>) -> Self {
        Self { tree }
    }
}

impl SearchSource for DiskSource {
    type Folder = OwnedFd;

    fn open(&self, path: &WorkspacePath) -> Result<OwnedFd, FileSystemError> {
        self.tree.enter_existing(path)?;
        self.tree.open_at(path, LISTED_FOLDER, "open the folder")
    }

    /// Names that are not Unicode cannot be named in a result, so neither they nor what is below them is found.
    fn entries(
        &self,
        folder: &OwnedFd,
        path: &WorkspacePath,
    ) -> Result<Vec<SourceEntry>, FileSystemError> {
        let mut entries = Vec::new();
        for_each_name(folder, path, |name, file_type| {
            if let Ok(name) = std::str::from_utf8(name) {
                entries.push(SourceEntry {
                    name: name.to_owned(),
                    kind: entry_kind(folder, name, file_type),
                });
            }
        })?;
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    fn enter(
        &self,
        folder: &OwnedFd,
        name: &str,
        path: &WorkspacePath,
    ) -> Result<Option<OwnedFd>, FileSystemError> {
        open_in(folder, name, LISTED_FOLDER, path)
    }

    fn read(
        &self,
        folder: &OwnedFd,
        name: &str,
        path: &WorkspacePath,
        limit: u64,
    ) -> Result<SourceFile, FileSystemError> {
        let opened = open_in(folder, name, READ, path).map_err(|e| opened_special(path, e));
        let read = opened.and_then(|file| match file {
            Some(file) => read_whole(&file, path, limit.min(self.tree.max_file_bytes)).map(Some),
            None => Ok(None),
        });
        match read {
            Ok(Some((bytes, _))) => Ok(SourceFile::Content(bytes)),
            Ok(None) | Err(FileSystemError::NotAFile { .. }) => Ok(SourceFile::Gone),
            Err(FileSystemError::TooLarge { .. }) => Ok(SourceFile::TooLarge),
            Err(error) => Err(error),
        }
    }
}

/// Some file systems do not say in a listing what an entry is.
fn entry_kind(folder: &OwnedFd, name: &str, file_type: FileType) -> FileKind {
    if file_type != FileType::Unknown {
        return kind_of(file_type);
    }
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => kind(&stat),
        // Gone meanwhile; nothing is done with what is special.
        Err(_) => FileKind::Special,
    }
}

/// Opens `name` itself; `None` when it is gone or has become a link or something else.
fn open_in(
    folder: &OwnedFd,
    name: &str,
    flags: OFlags,
    path: &WorkspacePath,
) -> Result<Option<OwnedFd>, FileSystemError> {
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(errno) => Err(at(path, "open")(errno)),
    }
}
