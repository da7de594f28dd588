use std::collections::BTreeSet;

use everruns_core::workspace::{PruneReceipt, WorkspaceError};

use super::resource::MemoryHead;
use super::state::WorkspaceState;
use crate::memory::Tree;

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
            let freed: Vec<Option<Tree>> = removed
                .iter()
                .map(|checkpoint| workspace.forget(&checkpoint.revision))
                .collect();
            Ok((PruneReceipt { removed, kept }, freed))
        })?;
        Ok(receipt)
    }
}

impl WorkspaceState {
    /// The states that receipts of destroyed heads name, and those that heads were forked from.
    fn needed(&self) -> BTreeSet<String> {
        let receipts = self.heads.iter().filter_map(|head| head.receipt.as_ref());
        let kept = receipts.filter_map(|receipt| receipt.kept_ref.clone());
        let origins = self.heads.iter().filter_map(|head| head.origin.clone());
        kept.chain(origins).collect()
    }

    /// Forgets the name of a state unless it is a base, was a branch's, or another checkpoint has it.
    fn forget(&mut self, revision: &str) -> Option<Tree> {
        let is_kept = self.lasting.contains(revision)
            || self
                .heads
                .iter()
                .any(|head| head.kept.of(revision).is_some());
        if is_kept {
            return None;
        }
        self.revisions.remove(revision)
    }
}
