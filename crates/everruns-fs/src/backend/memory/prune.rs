use everruns_core::workspace::{PruneReceipt, WorkspaceError};

use super::named::Named;
use super::resource::MemoryHead;

impl MemoryHead {
    pub(super) fn prune(&self, keep: usize) -> Result<PruneReceipt, WorkspaceError> {
        // What nobody names any more is freed without the lock.
        let (receipt, _freed) = self.locked(|state| {
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            let needed = workspace.needed();
            let head = workspace.heads.get_mut(&self.descriptor.id);
            let head = head.ok_or_else(|| WorkspaceError::HeadNotFound {
                head: self.descriptor.id.clone(),
            })?;
            let removed = head.kept.prune(keep, |revision| needed.contains(revision));
            let kept = head.kept.len() as u64;
            let freed: Vec<Option<Named>> = removed
                .iter()
                .map(|checkpoint| workspace.forget(&checkpoint.revision))
                .collect();
            Ok((PruneReceipt { removed, kept }, freed))
        })?;
        Ok(receipt)
    }
}
