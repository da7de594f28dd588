use std::sync::Arc;

use super::{
    ArchiveReceipt, CommitReceipt, CommitRequest, DestroyReceipt, DiffBase, DiffRequest, HeadHold,
    IgnoredReport, MergeOutcome, MergeRequest, PruneReceipt, RestorePlan, RestoreReceipt,
    UpdateOutcome, UpdateRequest, WorkspaceBackend, WorkspaceBinding, WorkspaceCheckpoint,
    WorkspaceDiff, WorkspaceError, WorkspaceHeadAccess, WorkspaceHeadDescriptor, WorkspaceHeadName,
    WorkspaceHeadResource, WorkspaceHeadStatus, WorkspacePatch,
};
use crate::file_system::SessionFileSystem;
use crate::ids::{SessionId, WorkspaceHeadId, WorkspaceId};
use crate::path::WorkspacePath;

/// A stable, mutable view of a workspace. Cheap to clone; dropping it removes nothing.
#[derive(Clone, Debug)]
pub struct WorkspaceHead {
    backend: Arc<dyn WorkspaceBackend>,
    resource: Arc<dyn WorkspaceHeadResource>,
}

impl WorkspaceHead {
    /// A handle on what a backend returned.
    pub fn new(
        backend: Arc<dyn WorkspaceBackend>,
        resource: Arc<dyn WorkspaceHeadResource>,
    ) -> Self {
        Self { backend, resource }
    }

    /// Opens exactly the head that `binding` names.
    ///
    /// # Errors
    /// As [`WorkspaceBackend::reopen_head`]; `ProviderUnavailable` when the binding is of another backend, and
    /// `IdentityMismatch` when the backend returns another head.
    pub async fn reopen(
        backend: Arc<dyn WorkspaceBackend>,
        binding: &WorkspaceBinding,
    ) -> Result<Self, WorkspaceError> {
        if backend.id() != &binding.provider_id {
            return Err(WorkspaceError::backend_unavailable(
                binding.provider_id.clone(),
            ));
        }
        let resource = backend.reopen_head(binding).await?;
        let found = resource.descriptor();
        let same = found.id == binding.head_id
            && found.workspace_id == binding.workspace_id
            && found.access == binding.access;
        if !same {
            return Err(WorkspaceError::IdentityMismatch {
                expected: identity(&binding.workspace_id, &binding.head_id, binding.access),
                found: identity(&found.workspace_id, &found.id, found.access),
            });
        }
        Ok(Self { backend, resource })
    }

    /// Its identity, for ever.
    pub fn id(&self) -> &WorkspaceHeadId {
        &self.resource.descriptor().id
    }

    /// The name that its maker gave it.
    pub fn name(&self) -> &str {
        self.resource.descriptor().name.as_str()
    }

    /// The workspace it belongs to.
    pub fn workspace_id(&self) -> &WorkspaceId {
        &self.resource.descriptor().workspace_id
    }

    /// What it was made from, such as a commit id.
    pub fn base(&self) -> &str {
        &self.resource.descriptor().base
    }

    /// How many sessions it serves.
    pub fn access(&self) -> WorkspaceHeadAccess {
        self.resource.descriptor().access
    }

    /// All that is known of it.
    pub fn descriptor(&self) -> &WorkspaceHeadDescriptor {
        self.resource.descriptor()
    }

    /// What a store keeps to find this head again.
    pub fn binding(&self) -> WorkspaceBinding {
        self.resource.binding()
    }

    /// The head's files.
    pub fn file_system(&self) -> Arc<dyn SessionFileSystem> {
        self.resource.file_system()
    }

    /// The backend that keeps it.
    pub fn backend(&self) -> &Arc<dyn WorkspaceBackend> {
        &self.backend
    }

    /// Drops what is kept in memory only to be faster; see [`WorkspaceHeadResource::drop_caches`]. Engines call this.
    pub fn drop_caches(&self) {
        self.resource.drop_caches();
    }

    /// Claims the head for a session; see [`WorkspaceHeadResource::claim`]. Engines call this.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::claim`].
    pub async fn claim(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        self.resource.claim(session).await
    }

    /// Gives up the claim of a session.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::release`].
    pub async fn release(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        self.resource.release(session).await
    }

    /// Keeps the head from being destroyed while a turn runs; see [`WorkspaceHeadResource::hold`]. Engines call this.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::hold`].
    pub async fn hold(&self, session: &SessionId) -> Result<HeadHold, WorkspaceError> {
        self.resource.hold(session).await
    }

    /// How the files differ from the last commit.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::status`].
    pub async fn status(&self) -> Result<WorkspaceHeadStatus, WorkspaceError> {
        self.resource.status().await
    }

    /// Keeps the present state.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::checkpoint`].
    pub async fn checkpoint(&self) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        self.resource.checkpoint(None).await
    }

    /// Keeps the present state under a label.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::checkpoint`].
    pub async fn checkpoint_labelled(
        &self,
        label: &str,
    ) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        self.resource.checkpoint(Some(label)).await
    }

    /// The checkpoints that are kept, oldest first.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::checkpoints`].
    pub async fn checkpoints(&self) -> Result<Vec<WorkspaceCheckpoint>, WorkspaceError> {
        self.resource.checkpoints().await
    }

    /// Keeps the present state, under a label if there is one, where nothing but `paths` changed since the last
    /// checkpoint.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::checkpoint_paths`], where it says what the caller vouches for.
    pub async fn checkpoint_paths(
        &self,
        label: Option<&str>,
        paths: &[WorkspacePath],
    ) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        self.resource.checkpoint_paths(label, paths).await
    }

    /// Forgets all but the latest `keep` checkpoints, apart from those that are still needed.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::prune_checkpoints`].
    pub async fn prune_checkpoints(&self, keep: usize) -> Result<PruneReceipt, WorkspaceError> {
        self.resource.prune_checkpoints(keep).await
    }

    /// What [`restore`](Self::restore) would do. Changes nothing.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::plan_restore`].
    pub async fn plan_restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestorePlan, WorkspaceError> {
        self.resource.plan_restore(checkpoint).await
    }

    /// Which ignored files came along when the head was made.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::included_ignored`].
    pub async fn included_ignored(&self) -> Result<IgnoredReport, WorkspaceError> {
        self.resource.included_ignored().await
    }

    /// Brings the files back to a checkpoint, after keeping the present state as another.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::restore`].
    pub async fn restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError> {
        self.resource.restore(checkpoint).await
    }

    /// How the files differ from what the head was made from.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::diff`].
    pub async fn diff(&self) -> Result<WorkspaceDiff, WorkspaceError> {
        self.resource.diff(DiffBase::HeadBase).await
    }

    /// How the files differ from a checkpoint.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::diff`].
    pub async fn diff_since(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<WorkspaceDiff, WorkspaceError> {
        self.resource
            .diff(DiffBase::Checkpoint(checkpoint.clone()))
            .await
    }

    /// How two states of the workspace differ: checkpoints, commits, or what the head was made from.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::diff_range`].
    pub async fn diff_between(
        &self,
        from: impl Into<DiffBase> + Send,
        to: impl Into<DiffBase> + Send,
    ) -> Result<WorkspaceDiff, WorkspaceError> {
        let request = DiffRequest {
            from: from.into(),
            to: Some(to.into()),
            ..DiffRequest::default()
        };
        self.resource.diff_range(request).await
    }

    /// A page of a difference.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::diff_range`].
    pub async fn diff_range(&self, request: DiffRequest) -> Result<WorkspaceDiff, WorkspaceError> {
        self.resource.diff_range(request).await
    }

    /// A difference as a patch that `git apply` takes, byte for byte.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::patch`].
    pub async fn patch(&self, request: DiffRequest) -> Result<WorkspacePatch, WorkspaceError> {
        self.resource.patch(request).await
    }

    /// Commits the working state on the head's branch.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::commit`].
    pub async fn commit(&self, request: CommitRequest) -> Result<CommitReceipt, WorkspaceError> {
        self.resource.commit(request).await
    }

    /// Brings a branch into the head.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::update_from`].
    pub async fn update_from(
        &self,
        branch: impl Into<String> + Send,
    ) -> Result<UpdateOutcome, WorkspaceError> {
        let request = UpdateRequest {
            branch: branch.into(),
            ..UpdateRequest::default()
        };
        self.resource.update_from(request).await
    }

    /// Brings a branch into the head as `request` says.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::update_from`].
    pub async fn update(&self, request: UpdateRequest) -> Result<UpdateOutcome, WorkspaceError> {
        self.resource.update_from(request).await
    }

    /// Makes an isolated head `name` with the same files, uncommitted and untracked ones included.
    ///
    /// # Errors
    /// `InvalidName`, and as [`WorkspaceHeadResource::fork`].
    pub async fn fork(&self, name: impl Into<String> + Send) -> Result<Self, WorkspaceError> {
        let name = WorkspaceHeadName::new(name)?;
        let resource = self.resource.fork(name).await?;
        Ok(Self {
            backend: Arc::clone(&self.backend),
            resource,
        })
    }

    /// Makes an isolated head `name` with the state that a checkpoint holds: what was uncommitted then is uncommitted in it.
    ///
    /// # Errors
    /// `InvalidName`, and as [`WorkspaceHeadResource::fork_from`].
    pub async fn fork_from(
        &self,
        name: impl Into<String> + Send,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<Self, WorkspaceError> {
        let name = WorkspaceHeadName::new(name)?;
        let resource = self.resource.fork_from(name, checkpoint).await?;
        Ok(Self {
            backend: Arc::clone(&self.backend),
            resource,
        })
    }

    /// Merges the head's present state into a branch with a merge commit.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::merge_into`].
    pub async fn merge_into(
        &self,
        branch: impl Into<String> + Send,
    ) -> Result<MergeOutcome, WorkspaceError> {
        let request = MergeRequest {
            branch: branch.into(),
            ..MergeRequest::default()
        };
        self.resource.merge_into(request).await
    }

    /// Merges the head's present state into a branch as `request` says.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::merge_into`].
    pub async fn merge(&self, request: MergeRequest) -> Result<MergeOutcome, WorkspaceError> {
        self.resource.merge_into(request).await
    }

    /// Blocks later reopening and keeps everything.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::archive`].
    pub async fn archive(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.resource.archive().await
    }

    /// Removes the head's files after keeping what no commit holds.
    ///
    /// While a turn runs on it, the answer is `HeadBusy`: close the session first, which stops the turn.
    ///
    /// # Errors
    /// As [`WorkspaceHeadResource::destroy`].
    pub async fn destroy(&self) -> Result<DestroyReceipt, WorkspaceError> {
        self.resource.destroy().await
    }
}

fn identity(
    workspace: &WorkspaceId,
    head: &WorkspaceHeadId,
    access: WorkspaceHeadAccess,
) -> String {
    format!("{} head {head} of workspace {workspace}", access.as_str())
}
