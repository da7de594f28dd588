use serde::{Deserialize, Serialize};

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
}

/// What a merge did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MergeOutcome {
    /// The branch holds all of the head's work already.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeConflict {
    /// The path, bytes that are not UTF-8 escaped.
    pub path: String,
    /// What is in conflict, for people.
    pub detail: String,
}
