use std::collections::BTreeMap;
use std::sync::Arc;

use everruns_core::file_system::ContentVersion;
use everruns_core::ids::{SessionId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    DestroyReceipt, WorkspaceDescriptor, WorkspaceError, WorkspaceHeadDescriptor,
    WorkspaceHeadState,
};

use super::heads::Heads;
use super::kept::Kept;
use super::lineage::Lineage;
use super::named::Named;
use crate::memory::{MemoryFileSystem, Tree};

/// Everything that the backend keeps.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) by_locator: BTreeMap<String, WorkspaceId>,
    pub(super) workspaces: BTreeMap<WorkspaceId, WorkspaceState>,
}

#[derive(Debug)]
pub(super) struct WorkspaceState {
    pub(super) descriptor: WorkspaceDescriptor,
    pub(super) branches: BTreeMap<String, Tree>,
    /// Every state that has a name: bases, checkpoints and what branches pointed to.
    pub(super) revisions: BTreeMap<String, Named>,
    pub(super) heads: Heads,
}

#[derive(Debug)]
pub(super) struct HeadState {
    pub(super) descriptor: WorkspaceHeadDescriptor,
    pub(super) files: MemoryFileSystem,
    /// What it was made from; nothing once it is destroyed, as its lineage.
    pub(super) base: Tree,
    /// The session that has the head, when it is isolated.
    pub(super) owner: Option<SessionId>,
    /// Each turn that runs on it has a clone.
    pub(super) held: Arc<()>,
    pub(super) kept: Kept,
    /// The state of the checkpoint that it was forked from.
    pub(super) origin: Option<String>,
    pub(super) lineage: Lineage,
    /// Whether its merges start elsewhere than when it began.
    pub(super) has_merged: bool,
    /// Set once it is destroyed.
    pub(super) receipt: Option<DestroyReceipt>,
}

impl State {
    pub(super) fn workspace(
        &mut self,
        id: &WorkspaceId,
    ) -> Result<&mut WorkspaceState, WorkspaceError> {
        self.workspaces
            .get_mut(id)
            .ok_or_else(|| WorkspaceError::WorkspaceNotFound {
                workspace: id.clone(),
            })
    }

    /// The head and its workspace. Both are gone together, so one error tells.
    pub(super) fn head(
        &mut self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<&mut HeadState, WorkspaceError> {
        self.workspaces
            .get_mut(workspace)
            .and_then(|workspace| workspace.heads.get_mut(head))
            .ok_or_else(|| WorkspaceError::HeadNotFound { head: head.clone() })
    }
}

impl WorkspaceState {
    /// The state that a branch, a revision or the reference of what a destroyed head left names, and where merges of a head
    /// that is made from it start.
    pub(super) fn revision(&self, text: &str) -> Result<(Tree, Lineage), WorkspaceError> {
        if let Some(tip) = self.branches.get(text) {
            return Ok((tip.clone(), Lineage::at(tip.clone())));
        }
        if let Some(left) = self.left(text) {
            return Ok(left);
        }
        self.revisions
            .get(text)
            .map(|named| (named.tree().clone(), named.lineage()))
            .ok_or_else(|| WorkspaceError::UnknownRevision {
                revision: text.to_owned(),
                reason: if text.parse::<ContentVersion>().is_ok() {
                    "no checkpoint or base of this workspace has that revision".to_owned()
                } else {
                    let branches: Vec<&str> = self.branches.keys().map(String::as_str).collect();
                    format!(
                        "give the revision of a checkpoint, or a branch: {}",
                        branches.join(", ")
                    )
                },
            })
    }

    /// The state that a checkpoint keeps.
    pub(super) fn checkpoint(&self, revision: &str) -> Result<&Named, WorkspaceError> {
        self.revisions
            .get(revision)
            .ok_or_else(|| WorkspaceError::CheckpointNotFound {
                revision: revision.to_owned(),
            })
    }
}

impl HeadState {
    pub(super) fn not_destroyed(&self) -> Result<(), WorkspaceError> {
        match &self.receipt {
            None => Ok(()),
            Some(receipt) => Err(WorkspaceError::HeadDestroyed {
                head: self.descriptor.id.clone(),
                kept: receipt.kept_ref.clone(),
            }),
        }
    }

    pub(super) fn not_held(&self) -> Result<(), WorkspaceError> {
        if Arc::strong_count(&self.held) == 1 {
            return Ok(());
        }
        Err(WorkspaceError::HeadBusy {
            head: self.descriptor.id.clone(),
            reason:
                "a turn runs on it: close its session, which stops the turn, or wait for the end"
                    .to_owned(),
        })
    }

    pub(super) fn not_archived(&self) -> Result<(), WorkspaceError> {
        match self.descriptor.state {
            WorkspaceHeadState::Archived => Err(WorkspaceError::HeadArchived {
                head: self.descriptor.id.clone(),
            }),
            _ => Ok(()),
        }
    }
}
