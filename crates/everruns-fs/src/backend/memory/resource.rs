use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::ids::{SessionId, WorkspaceBackendId};
use everruns_core::workspace::{
    ArchiveReceipt, BindingPayload, CommitReceipt, CommitRequest, DestroyReceipt, DiffBase,
    DiffRequest, HeadHold, MergeOutcome, MergeRequest, PruneReceipt, RestorePlan, RestoreReceipt,
    UpdateOutcome, UpdateRequest, WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDiff,
    WorkspaceError, WorkspaceHeadAccess, WorkspaceHeadDescriptor, WorkspaceHeadName,
    WorkspaceHeadResource, WorkspaceHeadState, WorkspaceHeadStatus, WorkspacePatch,
};
use serde::{Deserialize, Serialize};

use super::state::State;
use super::workspace_backend::Shared;
use super::{checkpoints, diff, patch, status};
use crate::disk::blocking;
use crate::memory::{MemoryFileSystem, Tree};

/// An open head in memory.
#[derive(Clone, Debug)]
pub(super) struct MemoryHead {
    pub(super) shared: Arc<Shared>,
    pub(super) descriptor: WorkspaceHeadDescriptor,
    files: MemoryFileSystem,
}

/// The binding says all; what is here is only the form of the payload itself.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    format: u32,
}

const PAYLOAD_FORMAT: u32 = 1;

pub(super) fn binding(
    backend: &WorkspaceBackendId,
    descriptor: &WorkspaceHeadDescriptor,
) -> WorkspaceBinding {
    WorkspaceBinding {
        provider_id: backend.clone(),
        workspace_id: descriptor.workspace_id.clone(),
        head_id: descriptor.id.clone(),
        access: descriptor.access,
        payload: BindingPayload::new(Payload {
            format: PAYLOAD_FORMAT,
        })
        .expect("a number is small JSON without credentials"),
    }
}

pub(super) fn check_payload(binding: &WorkspaceBinding) -> Result<(), WorkspaceError> {
    let corrupt = |reason: String| WorkspaceError::BindingCorrupt {
        head: binding.head_id.clone(),
        reason,
    };
    let payload = Payload::deserialize(binding.payload.value())
        .map_err(|error| corrupt(error.to_string()))?;
    if payload.format == PAYLOAD_FORMAT {
        Ok(())
    } else {
        Err(corrupt(format!("its format is {}", payload.format)))
    }
}

impl MemoryHead {
    pub(super) fn new(
        shared: Arc<Shared>,
        descriptor: WorkspaceHeadDescriptor,
        files: MemoryFileSystem,
    ) -> Self {
        Self {
            shared,
            descriptor,
            files,
        }
    }

    /// Does `work` under the backend's lock; nothing in it waits.
    pub(super) fn locked<T>(
        &self,
        work: impl FnOnce(&mut State) -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        work(&mut self.shared.state())
    }

    /// A state and another; what the head is now when none is named.
    fn states(
        &self,
        from: &DiffBase,
        to: Option<&DiffBase>,
    ) -> Result<(Tree, Tree), WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            let now = head.files.tree();
            let to = to.map_or(Ok(now), |to| self.state_of(state, to))?;
            Ok((self.state_of(state, from)?, to))
        })
    }

    fn state_of(&self, state: &mut State, base: &DiffBase) -> Result<Tree, WorkspaceError> {
        let workspace_id = &self.descriptor.workspace_id;
        match base {
            DiffBase::HeadBase => Ok(state.head(workspace_id, &self.descriptor.id)?.base.clone()),
            DiffBase::Checkpoint(checkpoint) => {
                let workspace = state.workspace(workspace_id)?;
                Ok(workspace.checkpoint(&checkpoint.revision)?.tree().clone())
            }
            DiffBase::Revision(text) => {
                let workspace = state.workspace(workspace_id)?;
                Ok(workspace.revision(text)?.0)
            }
            _ => Err(WorkspaceError::Unsupported {
                backend: self.shared.id.clone(),
                operation: "compare with this kind of state",
            }),
        }
    }
}

#[async_trait]
impl WorkspaceHeadResource for MemoryHead {
    fn descriptor(&self) -> &WorkspaceHeadDescriptor {
        &self.descriptor
    }

    fn binding(&self) -> WorkspaceBinding {
        binding(&self.shared.id, &self.descriptor)
    }

    fn file_system(&self) -> Arc<dyn SessionFileSystem> {
        Arc::new(self.files.clone())
    }

    async fn claim(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            head.not_archived()?;
            if head.descriptor.access == WorkspaceHeadAccess::Shared {
                return Ok(());
            }
            let owner = head.owner.get_or_insert_with(|| session.clone());
            if owner == session {
                Ok(())
            } else {
                Err(WorkspaceError::HeadClaimed {
                    head: self.descriptor.id.clone(),
                    session: owner.clone(),
                })
            }
        })
    }

    async fn release(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            if head.owner.as_ref() == Some(session) {
                head.owner = None;
            }
            Ok(())
        })
    }

    async fn hold(&self, _: &SessionId) -> Result<HeadHold, WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            Ok(HeadHold::new(Arc::clone(&head.held)))
        })
    }

    async fn status(&self) -> Result<WorkspaceHeadStatus, WorkspaceError> {
        let (lineage, now, archived) = self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            let archived = head.descriptor.state == WorkspaceHeadState::Archived;
            Ok((head.lineage.clone(), head.files.tree(), archived))
        })?;
        Ok(blocking(move || Ok(status::status(&lineage, &now, archived))).await?)
    }

    async fn checkpoint(&self, label: Option<&str>) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        self.take_checkpoint(label)
    }

    async fn checkpoints(&self) -> Result<Vec<WorkspaceCheckpoint>, WorkspaceError> {
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            Ok(head.kept.all().cloned().collect())
        })
    }

    async fn restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError> {
        self.restore_checkpoint(checkpoint).await
    }

    async fn plan_restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestorePlan, WorkspaceError> {
        let target = DiffBase::Checkpoint(checkpoint.clone());
        let (target, now) = self.states(&target, None)?;
        let branch_to = self.locked(|state| {
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            let last = &workspace.head(&self.descriptor.id)?.lineage.last;
            let place = workspace.lineage_at(checkpoint);
            let moves = place.filter(|place| !Arc::ptr_eq(&place.last, last));
            Ok(moves.map(|place| place.last.tree.revision()))
        })?;
        Ok(blocking(move || Ok(checkpoints::plan(&now, &target, branch_to))).await?)
    }

    async fn prune_checkpoints(&self, keep: usize) -> Result<PruneReceipt, WorkspaceError> {
        self.prune(keep)
    }

    async fn diff(&self, base: DiffBase) -> Result<WorkspaceDiff, WorkspaceError> {
        let request = DiffRequest {
            from: base,
            ..DiffRequest::default()
        };
        self.diff_range(request).await
    }

    async fn diff_range(&self, request: DiffRequest) -> Result<WorkspaceDiff, WorkspaceError> {
        let (before, after) = self.states(&request.from, request.to.as_ref())?;
        let (skip, limit) = (request.skip, request.limit);
        Ok(blocking(move || Ok(diff::diff(&before, &after, skip, limit))).await?)
    }

    async fn patch(&self, request: DiffRequest) -> Result<WorkspacePatch, WorkspaceError> {
        let (before, after) = self.states(&request.from, request.to.as_ref())?;
        let (skip, limit) = (request.skip, request.limit);
        let patch = blocking(move || Ok(patch::patch(&before, &after, skip, limit))).await?;
        patch.map_err(|source| WorkspaceError::backend("write a patch", source))
    }

    async fn fork(
        &self,
        name: WorkspaceHeadName,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let (workspace, head) = (&self.descriptor.workspace_id, &self.descriptor.id);
        Ok(Arc::new(self.shared.fork(workspace, head, &name)?))
    }

    async fn fork_from(
        &self,
        name: WorkspaceHeadName,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let (workspace, head) = (&self.descriptor.workspace_id, &self.descriptor.id);
        let fork = self.shared.fork_from(workspace, head, &name, checkpoint)?;
        Ok(Arc::new(fork))
    }

    async fn commit(&self, request: CommitRequest) -> Result<CommitReceipt, WorkspaceError> {
        self.commit_files(request).await
    }

    async fn update_from(&self, request: UpdateRequest) -> Result<UpdateOutcome, WorkspaceError> {
        self.update(request).await
    }

    async fn merge_into(&self, request: MergeRequest) -> Result<MergeOutcome, WorkspaceError> {
        self.merge(request).await
    }

    async fn archive(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.archive_head()
    }

    async fn destroy(&self) -> Result<DestroyReceipt, WorkspaceError> {
        self.destroy_head()
    }
}
