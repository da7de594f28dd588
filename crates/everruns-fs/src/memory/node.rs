use std::sync::Arc;

use bytes::Bytes;
use everruns_core::clock::Timestamp;
use everruns_core::file_system::{ContentVersion, FileKind, FileStat};
use everruns_core::path::WorkspacePath;

use super::folder::Folder;

/// A file or folder. Cloning shares it.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    File(Arc<File>),
    Folder(Arc<Folder>),
}

/// A file that never changes: a change makes another.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) bytes: Bytes,
    pub(crate) version: ContentVersion,
    pub(crate) executable: bool,
    pub(crate) modified: Timestamp,
}

impl File {
    pub(crate) fn new(bytes: Bytes, executable: bool, modified: Timestamp) -> Self {
        Self {
            version: ContentVersion::of(&bytes),
            bytes,
            executable,
            modified,
        }
    }

    /// The mode in Git's terms.
    pub(crate) fn git_mode(&self) -> u32 {
        if self.executable {
            0o100_755
        } else {
            0o100_644
        }
    }

    /// Whether bytes and mode are the same, whenever they were written.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.version == other.version && self.executable == other.executable
    }
}

impl Node {
    /// An empty folder.
    pub(crate) fn empty(now: Timestamp) -> Self {
        Self::Folder(Arc::new(Folder::at(now)))
    }

    /// The node at `path` below this one.
    pub(crate) fn get(&self, path: &WorkspacePath) -> Option<&Self> {
        path.components().try_fold(self, |node, name| match node {
            Self::Folder(folder) => folder.children().get(name),
            Self::File(_) => None,
        })
    }

    pub(super) fn kind(&self) -> FileKind {
        match self {
            Self::File(_) => FileKind::File,
            Self::Folder(_) => FileKind::Directory,
        }
    }

    pub(super) fn stat(&self) -> FileStat {
        let (size, executable, modified) = match self {
            Self::File(file) => (file.bytes.len() as u64, file.executable, file.modified),
            Self::Folder(folder) => (0, false, folder.modified()),
        };
        FileStat {
            kind: self.kind(),
            size,
            executable,
            modified: Some(modified),
            permissions: None,
        }
    }

    /// How many bytes all files together have.
    pub(super) fn total_bytes(&self) -> u64 {
        match self {
            Self::File(file) => file.bytes.len() as u64,
            Self::Folder(folder) => folder.below().bytes,
        }
    }
}
