use std::mem;
use std::sync::Arc;

use everruns_core::workspace::{
    ArchiveReceipt, DestroyReceipt, WorkspaceError, WorkspaceHeadState,
};

use super::commits::{Commit, Note};
use super::lineage::Lineage;
use super::reference::reference;
use super::resource::MemoryHead;

impl MemoryHead {
    pub(super) fn archive_head(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            head.descriptor.state = WorkspaceHeadState::Archived;
            Ok(ArchiveReceipt {
                head_id: self.descriptor.id.clone(),
                branch: Some(head.branch.clone()),
                location: None,
            })
        })
    }

    pub(super) fn destroy_head(&self) -> Result<DestroyReceipt, WorkspaceError> {
        let now = self.shared.options.clock.now();
        // What nobody needs any more is freed without the lock.
        let (receipt, _freed) = self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            if let Some(receipt) = &head.receipt {
                return Ok((receipt.clone(), None));
            }
            head.not_held()?;
            let last = head.files.close("its head was destroyed");
            let checkpoint = Self::keep_last(head, &last, now);
            let has_commits = !Arc::ptr_eq(&head.lineage.last, &head.began);
            let receipt = DestroyReceipt {
                head_id: self.descriptor.id.clone(),
                kept_branch: has_commits.then(|| head.branch.clone()),
                kept_ref: checkpoint.as_ref().map(reference),
                checkpoint,
                also_kept: Vec::new(),
                removed: None,
            };
            head.descriptor.state = WorkspaceHeadState::Destroyed;
            head.owner = None;
            head.receipt = Some(receipt.clone());
            let nothing = head.files.tree();
            let base = mem::replace(&mut head.base, nothing.clone());
            let nothing = Commit::new(nothing, Vec::new(), Note::nothing(now));
            let began = mem::replace(&mut head.began, Arc::clone(&nothing));
            let lineage = mem::replace(&mut head.lineage, Lineage::at(nothing));
            let commits = mem::take(&mut head.commits);
            let branch = head.branch.clone();
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            workspace.owners.remove(&branch);
            if !has_commits {
                workspace.branches.remove(&branch);
            }
            if receipt.checkpoint.is_some() {
                workspace.keep(&last, lineage.clone());
            }
            let forgotten = workspace.forget(&self.descriptor.base);
            let freed = (last, base, began, lineage, commits, forgotten);
            Ok((receipt, Some(freed)))
        })?;
        Ok(receipt)
    }
}
