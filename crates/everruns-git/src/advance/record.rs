//! What is recorded before anything moves.

use std::path::PathBuf;

use gix::ObjectId;
use serde::{Deserialize, Serialize};

use super::MergeState;
use crate::checkpoint::StageEntry;
use crate::state::{id_text, path_text};

/// A change between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trees {
    /// Before.
    #[serde(with = "id_text")]
    pub(crate) from: ObjectId,
    /// After.
    #[serde(with = "id_text")]
    pub(crate) to: ObjectId,
}

/// A worktree and its branch on their way to another commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Advance {
    /// The worktree's own Git directory.
    #[serde(with = "path_text")]
    pub(crate) git_dir: PathBuf,
    /// The folder with its files.
    #[serde(with = "path_text")]
    pub(crate) folder: PathBuf,
    /// The full name of the branch.
    pub(crate) branch: String,
    /// Where the branch is; the null id when it has no commit yet.
    #[serde(with = "id_text")]
    pub(crate) from: ObjectId,
    /// Where it goes; where it is when only files and index change.
    #[serde(with = "id_text")]
    pub(crate) to: ObjectId,
    /// How the files change. Only paths that differ here are touched.
    pub(crate) files: Trees,
    /// How the index changes. Only paths that differ here, and those below, are touched.
    pub(crate) index: Trees,
    /// Paths whose entries become what the index's tree says even if it says the same before and after, because no
    /// tree could tell what they were. Encoded as in all records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<String>,
    /// The conflicts that the index gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<StageEntry>,
    /// What happens to the notes of a merge.
    pub(crate) merge: MergeState,
    /// What the branch's log says.
    pub(crate) why: String,
}
