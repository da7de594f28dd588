use serde::{Deserialize, Serialize};

use super::WorkspaceCheckpoint;
use crate::ids::WorkspaceHeadId;

/// What archiving a head left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveReceipt {
    /// The head.
    pub head_id: WorkspaceHeadId,
    /// The branch that is kept, where there are branches.
    pub branch: Option<String>,
    /// Where its files stay, for people.
    pub location: Option<String>,
}

/// What destroying a head kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DestroyReceipt {
    /// The head.
    pub head_id: WorkspaceHeadId,
    /// The branch that is kept, where there are branches.
    pub kept_branch: Option<String>,
    /// The ref that keeps uncommitted work, by which a new head can be made from it; `None` when there was none.
    pub kept_ref: Option<String>,
    /// The checkpoint behind that ref.
    pub checkpoint: Option<WorkspaceCheckpoint>,
    /// The refs that keep commits which neither a branch nor that ref leads to, such as what Git stashed for a rebase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_kept: Vec<String>,
    /// What was removed, for people.
    pub removed: Option<String>,
}

/// What restoring a checkpoint did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreReceipt {
    /// The state before, taken first.
    pub before: WorkspaceCheckpoint,
    /// The paths that were written or removed.
    pub changed: Vec<String>,
}

/// What restoring a checkpoint would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestorePlan {
    /// The paths that would change, sorted.
    pub steps: Vec<RestoreStep>,
    /// The paths where files that no state knows, such as ignored ones, are in the way: with any, a restore is refused.
    pub blocked: Vec<String>,
    /// The revision that the head's branch would move to, when it would move.
    pub branch_to: Option<String>,
}

/// One path that restoring a checkpoint would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreStep {
    /// The path below the head, bytes that are not UTF-8 escaped as `\xNN`.
    pub path: String,
    /// Whether it would go, rather than be written.
    pub removes: bool,
}

/// What pruning checkpoints removed and kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneReceipt {
    /// The checkpoints that are not kept any more, oldest first.
    pub removed: Vec<WorkspaceCheckpoint>,
    /// How many are left.
    pub kept: u64,
}
