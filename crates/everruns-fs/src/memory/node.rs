use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use everruns_core::clock::Timestamp;
use everruns_core::file_system::{ContentVersion, FileKind, FileStat};
use everruns_core::path::WorkspacePath;

use super::children::Children;

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

/// A folder. It changes only while nothing shares it.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub(super) children: Children,
    pub(super) modified: Timestamp,
    /// The hash of all below, computed at most once for each state.
    hash: OnceLock<ContentVersion>,
}

impl Clone for Folder {
    fn clone(&self) -> Self {
        Self {
            children: self.children.clone(),
            modified: self.modified,
            // A copy is made to be changed.
            hash: OnceLock::new(),
        }
    }
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

impl Folder {
    pub(super) fn at(modified: Timestamp) -> Self {
        Self {
            modified,
            ..Self::default()
        }
    }

    /// Gives the children to be changed.
    pub(super) fn edit(&mut self, now: Timestamp) -> &mut Children {
        self.modified = now;
        self.hash = OnceLock::new();
        &mut self.children
    }

    /// Gives the children to change something further below; the folder's own time stays.
    pub(super) fn edit_below(&mut self) -> &mut Children {
        self.hash = OnceLock::new();
        &mut self.children
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    fn hash(&self) -> ContentVersion {
        *self.hash.get_or_init(|| {
            let mut text = Vec::new();
            for (name, node) in self.children.iter() {
                let (tag, hash) = match node {
                    Node::File(file) if file.executable => (b'x', file.version),
                    Node::File(file) => (b'f', file.version),
                    Node::Folder(folder) => (b'd', folder.hash()),
                };
                text.push(tag);
                text.extend_from_slice(hash.to_string().as_bytes());
                text.extend_from_slice(name.as_bytes());
                // No name holds a NUL, so entries cannot run into one another.
                text.push(0);
            }
            ContentVersion::of(&text)
        })
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
            Self::Folder(folder) => folder.children.get(name),
            Self::File(_) => None,
        })
    }

    /// The file at `path` below this one.
    pub(crate) fn file(&self, path: &WorkspacePath) -> Option<&Arc<File>> {
        match self.get(path) {
            Some(Self::File(file)) => Some(file),
            _ => None,
        }
    }

    /// The hash of a tree: equal for equal names, bytes and modes.
    pub(crate) fn hash(&self) -> ContentVersion {
        match self {
            Self::File(file) => file.version,
            Self::Folder(folder) => folder.hash(),
        }
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
            Self::Folder(folder) => (0, false, folder.modified),
        };
        FileStat {
            kind: self.kind(),
            size,
            executable,
            modified: Some(modified),
        }
    }

    /// How many bytes all files together have.
    pub(super) fn total_bytes(&self) -> u64 {
        match self {
            Self::File(file) => file.bytes.len() as u64,
            Self::Folder(folder) => folder
                .children
                .iter()
                .map(|(_, node)| node.total_bytes())
                .sum(),
        }
    }
}
