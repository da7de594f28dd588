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
    /// The ref that keeps uncommitted work; `None` when there was none.
    pub kept_ref: Option<String>,
    /// The checkpoint behind that ref.
    pub checkpoint: Option<WorkspaceCheckpoint>,
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
