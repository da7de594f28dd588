//! What the journal file holds.

use std::collections::BTreeSet;

use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    BindingPayload, DestroyReceipt, WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDescriptor,
    WorkspaceError, WorkspaceHeadDescriptor, WorkspaceHeadState,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::tree::Tree;

/// The version of the file's format; another one is refused.
pub(crate) const FORMAT: u32 = 1;

/// All state of the backend.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Records {
    /// See [`FORMAT`].
    pub(crate) format: u32,
    /// The workspaces.
    pub(crate) workspaces: Vec<WorkspaceDescriptor>,
    /// The heads of all workspaces, oldest first.
    pub(crate) heads: Vec<HeadRecord>,
}

/// One head.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HeadRecord {
    /// What it is.
    pub(crate) descriptor: WorkspaceHeadDescriptor,
    /// The sessions that claimed it.
    pub(crate) claims: BTreeSet<SessionId>,
    /// Its files now.
    pub(crate) tree: Tree,
    /// Its files when it was made.
    pub(crate) base: Tree,
    /// The states that are kept.
    pub(crate) checkpoints: Vec<(WorkspaceCheckpoint, Tree)>,
    /// The receipt of its end.
    pub(crate) destroyed: Option<DestroyReceipt>,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            format: FORMAT,
            workspaces: Vec::new(),
            heads: Vec::new(),
        }
    }
}

impl Records {
    /// The workspace of this id.
    pub(crate) fn workspace(
        &self,
        id: &WorkspaceId,
    ) -> Result<&WorkspaceDescriptor, WorkspaceError> {
        let found = self.workspaces.iter().find(|workspace| workspace.id == *id);
        found.ok_or_else(|| WorkspaceError::WorkspaceNotFound {
            workspace: id.clone(),
        })
    }

    /// The head of this id in this workspace.
    pub(crate) fn head(
        &mut self,
        workspace: &WorkspaceId,
        id: &WorkspaceHeadId,
    ) -> Result<&mut HeadRecord, WorkspaceError> {
        let found = self
            .heads
            .iter_mut()
            .find(|head| head.descriptor.id == *id && head.descriptor.workspace_id == *workspace);
        found.ok_or_else(|| WorkspaceError::HeadNotFound { head: id.clone() })
    }

    /// Adds a head unless its name is taken.
    pub(crate) fn add(&mut self, head: HeadRecord) -> Result<(), WorkspaceError> {
        let new = &head.descriptor;
        let taken = self.heads.iter().map(|head| &head.descriptor).find(|old| {
            old.workspace_id == new.workspace_id
                && old.name == new.name
                && old.state != WorkspaceHeadState::Destroyed
        });
        if let Some(old) = taken {
            return Err(WorkspaceError::NameTaken {
                name: new.name.to_string(),
                head: old.id.clone(),
            });
        }
        self.heads.push(head);
        Ok(())
    }

    /// The files that a checkpoint of this workspace kept.
    pub(crate) fn kept(
        &self,
        workspace: &WorkspaceId,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<Tree, WorkspaceError> {
        self.heads
            .iter()
            .filter(|head| head.descriptor.workspace_id == *workspace)
            .flat_map(|head| &head.checkpoints)
            .find(|(kept, _)| kept.revision == checkpoint.revision)
            .map(|(_, tree)| tree.clone())
            .ok_or_else(|| WorkspaceError::CheckpointNotFound {
                revision: checkpoint.revision.clone(),
            })
    }
}

impl HeadRecord {
    /// What a store keeps to find the head again.
    pub(crate) fn binding(
        &self,
        backend: &WorkspaceBackendId,
    ) -> Result<WorkspaceBinding, WorkspaceError> {
        let head = &self.descriptor;
        Ok(WorkspaceBinding {
            provider_id: backend.clone(),
            workspace_id: head.workspace_id.clone(),
            head_id: head.id.clone(),
            access: head.access,
            payload: BindingPayload::new(json!({ "format": FORMAT, "head": head.id }))?,
        })
    }

    /// Refuses a destroyed head.
    pub(crate) fn alive(&mut self) -> Result<&mut Self, WorkspaceError> {
        match &self.destroyed {
            None => Ok(self),
            Some(receipt) => Err(WorkspaceError::HeadDestroyed {
                head: self.descriptor.id.clone(),
                kept: receipt.kept_ref.clone(),
            }),
        }
    }

    /// Refuses a destroyed or archived head.
    pub(crate) fn ready(&mut self) -> Result<&mut Self, WorkspaceError> {
        let head = self.alive()?;
        if head.descriptor.state == WorkspaceHeadState::Archived {
            return Err(WorkspaceError::HeadArchived {
                head: head.descriptor.id.clone(),
            });
        }
        Ok(head)
    }
}
