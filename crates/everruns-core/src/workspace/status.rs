use serde::{Deserialize, Serialize};

/// The state of a head's files against its last commit.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkspaceHeadStatus {
    /// Whether anything differs from the last commit, untracked files included.
    pub dirty: bool,
    /// Whether an entry is in conflict.
    pub conflicted: bool,
    /// Whether the head is archived.
    pub archived: bool,
    /// What differs, sorted by path.
    pub entries: Vec<StatusEntry>,
    /// What the backend does not handle fully in this head.
    pub degraded: Vec<DegradedFact>,
}

/// How an entry differs on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryState {
    /// No difference.
    Unmodified,
    /// Other bytes.
    Modified,
    /// New.
    Added,
    /// Gone.
    Deleted,
    /// Moved from [`StatusEntry::original`].
    Renamed,
    /// Copied from [`StatusEntry::original`].
    Copied,
    /// Another kind of entry, such as a link where a file was.
    TypeChanged,
    /// In conflict.
    Unmerged,
    /// Not known to the last commit or index.
    Untracked,
}

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusEntry {
    /// The path below the head, bytes that are not UTF-8 escaped as `\xNN`.
    pub path: String,
    /// The last commit against the index. [`EntryState::Unmodified`] for backends without an index.
    pub staged: EntryState,
    /// The index against the files.
    pub unstaged: EntryState,
    /// Where a renamed or copied entry came from.
    pub original: Option<String>,
}

/// Something that a backend sees, but does not handle fully.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DegradedFact {
    /// A stable name for programs, such as `submodule-not-initialised`.
    pub kind: String,
    /// Which path it is about, when it is about one.
    pub path: Option<String>,
    /// What it means, for people.
    pub detail: String,
}
