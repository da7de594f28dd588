use everruns_core::ids::WorkspaceHeadId;
use everruns_core::workspace::WorkspaceCheckpoint;

use super::lineage::Lineage;
use super::state::WorkspaceState;
use crate::memory::Tree;

/// What references begin with.
const PREFIX: &str = "checkpoints/";

/// What names a checkpoint of one head. A revision does not: another head may have had the same state, and have merged other
/// things before.
pub(super) fn reference(checkpoint: &WorkspaceCheckpoint) -> String {
    format!("{PREFIX}{}/{}", checkpoint.head_id, checkpoint.number)
}

impl WorkspaceState {
    /// What a reference names.
    pub(super) fn left(&self, reference: &str) -> Option<(Tree, Lineage)> {
        let (head, number) = reference.strip_prefix(PREFIX)?.split_once('/')?;
        let head: WorkspaceHeadId = head.parse().ok()?;
        let kept = &self.heads.get(&head)?.kept;
        let (checkpoint, lineage) = kept.get(number.parse().ok()?)?;
        let named = self.revisions.get(&checkpoint.revision)?;
        Some((named.tree().clone(), lineage.clone()))
    }
}
