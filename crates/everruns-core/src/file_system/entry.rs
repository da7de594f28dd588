use serde::{Deserialize, Serialize};

use super::Permissions;
use crate::clock::Timestamp;

/// What kind of entry a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device; it can be listed, never opened.
    Special,
}

/// What [`stat`](super::SessionFileSystem::stat) tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// What the entry is.
    pub kind: FileKind,
    /// Size in bytes; 0 for folders.
    pub size: u64,
    /// Whether the owner may execute it.
    pub executable: bool,
    /// When its content last changed, where that is known.
    pub modified: Option<Timestamp>,
    /// What its owner, its group and others may do; `None` for a link, and in a tree that has no such bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryEntry {
    /// The entry's name: one component, exactly as stored.
    pub name: String,
    /// What is known of it.
    pub stat: FileStat,
}

/// Which part of a listing to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Only names after this one, in byte order.
    pub after: Option<String>,
    /// At most so many entries; 0 counts as 1.
    pub limit: usize,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self {
            after: None,
            limit: 1_000,
        }
    }
}

/// A part of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DirectoryPage {
    /// Entries sorted by name in byte order.
    pub entries: Vec<DirectoryEntry>,
    /// Names of this folder that are not Unicode, with bytes escaped as `\xNN`; they cannot be opened.
    /// Only the first page carries them.
    pub unrepresentable: Vec<String>,
    /// Where the next page starts; `None` when this is the last.
    pub next: Option<String>,
    /// What the folder holds and no page shows, as far as this page tells; the weightiest kind. `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hides: Option<Hidden>,
}

/// What a folder holds and its listing does not show. The greater one weighs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hidden {
    /// Entries that are no part of the tree, such as what a write that was cut off has left, or that a rule hides.
    Entries,
    /// Git's own folder.
    Git,
}
