use std::collections::BTreeMap;
use std::sync::Arc;

use everruns_core::file_system::ContentVersion;
use everruns_core::ids::{SessionId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    DestroyReceipt, WorkspaceDescriptor, WorkspaceError, WorkspaceHeadDescriptor,
    WorkspaceHeadState,
};

use super::commits::Commit;
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
    /// Where each branch is. Each head has one of its own, which stays when the head is destroyed.
    pub(super) branches: BTreeMap<String, Arc<Commit>>,
    /// The head of each branch that is a head's own.
    pub(super) owners: BTreeMap<String, WorkspaceHeadId>,
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
    /// Where its branch was first.
    pub(super) began: Arc<Commit>,
    /// The branch of its commits.
    pub(super) branch: String,
    /// The latest commit that its branch was at with each state, by revision.
    pub(super) commits: BTreeMap<String, Arc<Commit>>,
    /// The session that has the head, when it is isolated.
    pub(super) owner: Option<SessionId>,
    /// Each turn that runs on it has a clone.
    pub(super) held: Arc<()>,
    pub(super) kept: Kept,
    /// The state of the checkpoint that it was forked from.
    pub(super) origin: Option<String>,
    pub(super) lineage: Lineage,
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
    /// The state that a branch, a revision or the reference of what a destroyed head left names, and where a head with it
    /// stands.
    pub(super) fn revision(&self, text: &str) -> Result<(Tree, Lineage), WorkspaceError> {
        if let Some(tip) = self.branches.get(text) {
            return Ok((tip.tree.clone(), Lineage::at(Arc::clone(tip))));
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
                    const SHOWN: usize = 5;
                    let branches = self.branches.keys().map(String::as_str);
                    let branches: Vec<&str> = branches
                        .filter(|name| !self.owners.contains_key(*name))
                        .take(SHOWN)
                        .collect();
                    format!(
                        "give the revision of a checkpoint or commit, the branch of a head, or {}",
                        branches.join(", ")
                    )
                },
            })
    }

    pub(super) fn head(&self, id: &WorkspaceHeadId) -> Result<&HeadState, WorkspaceError> {
        let head = self.heads.get(id);
        head.ok_or_else(|| WorkspaceError::HeadNotFound { head: id.clone() })
    }

    pub(super) fn head_mut(
        &mut self,
        id: &WorkspaceHeadId,
    ) -> Result<&mut HeadState, WorkspaceError> {
        let head = self.heads.get_mut(id);
        head.ok_or_else(|| WorkspaceError::HeadNotFound { head: id.clone() })
    }

    /// The head that has files of a branch.
    pub(super) fn holder(&self, branch: &str) -> Option<WorkspaceHeadId> {
        let owner = self.owners.get(branch)?;
        let is_there = self.heads.get(owner)?.receipt.is_none();
        is_there.then(|| owner.clone())
    }

    /// Has the branch of a head, and the head, be at a commit, which is kept for good.
    pub(super) fn move_head(
        &mut self,
        id: &WorkspaceHeadId,
        commit: &Arc<Commit>,
    ) -> Result<(), WorkspaceError> {
        self.keep_commit(commit);
        self.set_last(id, commit)
    }

    /// As [`move_head`](Self::move_head), to where a head begins or was before.
    pub(super) fn set_last(
        &mut self,
        id: &WorkspaceHeadId,
        commit: &Arc<Commit>,
    ) -> Result<(), WorkspaceError> {
        let head = self.head_mut(id)?;
        head.lineage.last = Arc::clone(commit);
        head.commits
            .insert(commit.tree.revision(), Arc::clone(commit));
        let branch = head.branch.clone();
        self.branches.insert(branch, Arc::clone(commit));
        Ok(())
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

    pub(super) fn not_conflicted(&self) -> Result<(), WorkspaceError> {
        match &self.lineage.unfinished {
            None => Ok(()),
            Some(merge) => Err(WorkspaceError::Conflicted {
                head: self.descriptor.id.clone(),
                files: merge
                    .conflicts
                    .iter()
                    .map(|told| told.path.clone())
                    .collect(),
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
