use serde::{Deserialize, Serialize};

use super::CommitIdentity;

/// How a head's work is brought into a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MergeStrategy {
    /// A commit with two parents, also when the branch could move forward without one.
    #[default]
    MergeCommit,
    /// One commit with the branch's tip as its only parent.
    Squash,
    /// Only move the branch forward; refused when it has commits of its own.
    FastForward,
}

/// A merge of a head into a branch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MergeRequest {
    /// The branch's short name, such as `main`.
    pub branch: String,
    /// How.
    pub strategy: MergeStrategy,
    /// The commit's message; a default one that names the head when `None`.
    pub message: Option<String>,
    /// The author of what has to be committed; who is configured for the repository or the user when `None`.
    pub author: Option<CommitIdentity>,
}

/// What a merge did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MergeOutcome {
    /// The branch holds all of the head's work already, whoever brought it there. In memory the head's next merge starts from
    /// its present state then, as after any merge; in Git it starts where branch and head have their last commit in common, as
    /// nothing was committed.
    UpToDate,
    /// The branch has moved.
    Merged {
        /// Where it points now.
        revision: String,
    },
    /// Nothing has changed; both sides changed these places.
    Conflicts(Vec<MergeConflict>),
}

/// One path that could not be merged.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MergeConflict {
    /// The path, bytes that are not UTF-8 escaped.
    pub path: String,
    /// What is in conflict, for people.
    pub detail: String,
    /// What both sides started from; `None` if it was not there, or the backend doesn't tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<ConflictSide>,
    /// What the side that was merged into has: the branch, or in an update the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<ConflictSide>,
    /// What the side that was merged has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theirs: Option<ConflictSide>,
}

/// What one side of a conflict has at its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictSide {
    /// The backend's name of the content, such as a blob's id.
    pub revision: String,
    /// The mode in Git's terms, such as `0o100644`.
    pub mode: u32,
}
