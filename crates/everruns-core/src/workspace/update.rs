use serde::{Deserialize, Serialize};

use super::{CommitIdentity, MergeConflict};

/// Bringing a branch into a head.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct UpdateRequest {
    /// The branch's short name, such as `main`, or that of a remote's branch, such as `origin/main`.
    pub branch: String,
    /// The message of a merge commit; a default one when `None`.
    pub message: Option<String>,
    /// The author of a merge commit; who is configured for the repository or the user when `None`.
    pub author: Option<CommitIdentity>,
}

/// What bringing a branch into a head did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UpdateOutcome {
    /// The head had everything already.
    UpToDate,
    /// The head had no commits of its own, and is at the branch's commit now.
    FastForwarded {
        /// That commit.
        revision: String,
    },
    /// Both had commits; one that joins them was made.
    Merged {
        /// That commit.
        revision: String,
    },
    /// Both sides changed these places. What could be merged is in the files and staged, the conflicts are in the
    /// files between markers, and the next commit concludes the merge.
    Conflicts(Vec<MergeConflict>),
}
