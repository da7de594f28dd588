use bytes::Bytes;

use super::WorkspaceCheckpoint;

/// One of the states of a workspace that can be compared.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DiffBase {
    /// What the head was made from.
    #[default]
    HeadBase,
    /// A checkpoint of the same workspace.
    Checkpoint(WorkspaceCheckpoint),
    /// A revision in the backend's own syntax, such as a branch or a commit.
    Revision(String),
}

impl From<WorkspaceCheckpoint> for DiffBase {
    fn from(checkpoint: WorkspaceCheckpoint) -> Self {
        Self::Checkpoint(checkpoint)
    }
}

impl From<&WorkspaceCheckpoint> for DiffBase {
    fn from(checkpoint: &WorkspaceCheckpoint) -> Self {
        Self::Checkpoint(checkpoint.clone())
    }
}

/// Which two states to compare, and how much to tell.
///
/// The next page of a difference starts after the files of the last one: `skip` is the number of files seen so far.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DiffRequest {
    /// The state before.
    pub from: DiffBase,
    /// The state after; the head's present files when `None`.
    pub to: Option<DiffBase>,
    /// How many of the files that differ, in the order of their paths, to leave out.
    pub skip: usize,
    /// How many files to tell at most; as many as the backend tells at once when `None`. A page of one file has more room
    /// for its hunks.
    pub limit: Option<usize>,
}

/// A difference in the form that `git apply` takes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WorkspacePatch {
    /// The patch. File contents are in it as they are, so it need not be UTF-8.
    pub bytes: Bytes,
    /// How many files it is about.
    pub files: usize,
    /// The files that are too large to be in it, bytes that are not UTF-8 escaped.
    pub omitted: Vec<String>,
    /// Whether files after these differ as well.
    pub truncated: bool,
}
