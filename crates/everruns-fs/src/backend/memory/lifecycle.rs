use everruns_core::workspace::{
    ArchiveReceipt, DestroyReceipt, WorkspaceError, WorkspaceHeadState,
};

use super::resource::MemoryHead;

impl MemoryHead {
    pub(super) fn is_archived(&self) -> Result<bool, WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            Ok(head.descriptor.state == WorkspaceHeadState::Archived)
        })
    }

    pub(super) fn archive_head(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            head.descriptor.state = WorkspaceHeadState::Archived;
            Ok(ArchiveReceipt {
                head_id: self.descriptor.id.clone(),
                branch: None,
                location: None,
            })
        })
    }

    pub(super) fn destroy_head(&self) -> Result<DestroyReceipt, WorkspaceError> {
        let now = self.shared.options.clock.now();
        // What was kept already is freed without the lock.
        let (receipt, _last) = self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            if let Some(receipt) = &head.receipt {
                return Ok((receipt.clone(), None));
            }
            head.not_held()?;
            let last = head.files.close("its head was destroyed");
            let checkpoint = Self::keep_last(head, &last, now);
            let receipt = DestroyReceipt {
                head_id: self.descriptor.id.clone(),
                kept_branch: None,
                kept_ref: checkpoint.as_ref().map(|kept| kept.revision.clone()),
                checkpoint,
                also_kept: Vec::new(),
                removed: None,
            };
            head.descriptor.state = WorkspaceHeadState::Destroyed;
            head.owner = None;
            head.receipt = Some(receipt.clone());
            let lineage = head.lineage.clone();
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            workspace.keep(&last, lineage);
            Ok((receipt, Some(last)))
        })?;
        Ok(receipt)
    }
}
