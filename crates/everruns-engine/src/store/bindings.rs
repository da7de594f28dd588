use std::collections::HashMap;

use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::session::StoreError;
use everruns_core::workspace::{WorkspaceBinding, WorkspaceHeadAccess};

type HeadKey = (WorkspaceBackendId, WorkspaceId, WorkspaceHeadId);

/// Which session has which isolated head: the constraint that an isolated head has one at most.
#[derive(Debug, Default)]
pub(super) struct IsolatedHeads {
    holders: HashMap<HeadKey, SessionId>,
}

impl IsolatedHeads {
    /// Enters a binding; a shared head is free for all.
    pub(super) fn enter(
        &mut self,
        session: &SessionId,
        binding: &WorkspaceBinding,
    ) -> Result<(), StoreError> {
        if binding.access == WorkspaceHeadAccess::Shared {
            return Ok(());
        }
        let holder = self
            .holders
            .entry(key(binding))
            .or_insert_with(|| session.clone());
        if holder == session {
            Ok(())
        } else {
            Err(StoreError::HeadBound {
                head: binding.head_id.clone(),
                session: holder.clone(),
            })
        }
    }

    pub(super) fn leave(&mut self, session: &SessionId, binding: &WorkspaceBinding) {
        let key = key(binding);
        if self.holders.get(&key) == Some(session) {
            self.holders.remove(&key);
        }
    }
}

fn key(binding: &WorkspaceBinding) -> HeadKey {
    (
        binding.provider_id.clone(),
        binding.workspace_id.clone(),
        binding.head_id.clone(),
    )
}
