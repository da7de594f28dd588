//! One open head.

use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::ids::{SessionId, WorkspaceBackendId};
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{
    ArchiveReceipt, CommitReceipt, CommitRequest, DestroyReceipt, DiffBase, DiffRequest, HeadHold,
    IgnoredReport, MergeOutcome, MergeRequest, PruneReceipt, RestorePlan, RestoreReceipt,
    UpdateOutcome, UpdateRequest, WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDiff,
    WorkspaceError, WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadResource,
    WorkspaceHeadStatus, WorkspacePatch,
};
use gix::bstr::{BString, ByteSlice as _};

use super::{file_system, payload};
use crate::blocking::blocking;
use crate::checkpoint::{self, Checkpoint};
use crate::convert::{self, Teller};
use crate::diff;
use crate::error::{GitError, Result};
use crate::head::{self, Handle, InUse, LastKept, NewHead, Start};
use crate::ignored;
use crate::names::path_text;
use crate::repository::tell_lack;
use crate::scan::{Purpose, scan};
use crate::state::{Claim, HeadState, Origin};
use crate::status;

/// A head as an open resource.
#[derive(Debug)]
pub(super) struct GitHead {
    backend: WorkspaceBackendId,
    handle: Handle,
    descriptor: WorkspaceHeadDescriptor,
    binding: WorkspaceBinding,
    files: Arc<dyn SessionFileSystem>,
    last_kept: LastKept,
}

impl GitHead {
    /// The resource of a head that has been proved to be the recorded one.
    pub(super) fn open(backend: WorkspaceBackendId, handle: Handle) -> Result<Self> {
        let descriptor = convert::head(&handle.record)?;
        let binding = payload::binding(&handle.record, &backend).map_err(|failure| {
            GitError::CorruptBinding {
                reason: failure.to_string(),
            }
        })?;
        let files = file_system::open(&handle)?;
        Ok(Self {
            backend,
            handle,
            descriptor,
            binding,
            files,
            last_kept: LastKept::default(),
        })
    }

    /// A head with the state of `source`, forked from that of `handle`.
    fn forked(
        backend: WorkspaceBackendId,
        handle: &Handle,
        name: &WorkspaceHeadName,
        source: Checkpoint,
    ) -> Result<Arc<dyn WorkspaceHeadResource>> {
        let new = NewHead {
            name: name.as_str().to_owned(),
            slug: name.slug(),
            shared: false,
            revision: source.id.to_string(),
            origin: Some(Origin {
                head: handle.record.id.clone(),
                checkpoint: source.id.to_string(),
            }),
            start: Start::State(Box::new(source.state)),
            opened_in: None,
            include_ignored: handle.record.include_ignored.clone(),
        };
        let record = head::create(&handle.context, &handle.workspace, new)?;
        let fork = Handle {
            record,
            ..handle.clone()
        };
        Ok(Arc::new(Self::open(backend, fork)?))
    }

    /// Runs `work` where it may block, and tells its errors.
    async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Handle) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, WorkspaceError> {
        let handle = self.handle.clone();
        let outcome = blocking(move || {
            work(&handle).map_err(|failure| {
                let repository = handle.context.repository(&handle.workspace).ok();
                tell_lack(failure, repository.as_ref())
            })
        })
        .await;
        outcome.map_err(|error| {
            let error = error.at_repository(&self.handle.workspace.common_dir);
            Teller::of(operation).on(&self.descriptor.id).tell(error)
        })
    }
}

#[async_trait]
impl WorkspaceHeadResource for GitHead {
    fn descriptor(&self) -> &WorkspaceHeadDescriptor {
        &self.descriptor
    }

    fn binding(&self) -> WorkspaceBinding {
        self.binding.clone()
    }

    fn file_system(&self) -> Arc<dyn SessionFileSystem> {
        Arc::clone(&self.files)
    }

    fn drop_caches(&self) {
        self.last_kept.forget();
    }

    async fn claim(&self, session: &SessionId) -> std::result::Result<(), WorkspaceError> {
        let session = session.to_string();
        self.run("claim the head", move |handle| {
            head::claim(handle, &session)
        })
        .await
    }

    async fn release(&self, session: &SessionId) -> std::result::Result<(), WorkspaceError> {
        let session = session.to_string();
        self.run("release the head", move |handle| {
            Claim::release(handle.layout(), &handle.record, &session)
        })
        .await
    }

    async fn hold(&self, _: &SessionId) -> std::result::Result<HeadHold, WorkspaceError> {
        self.run("hold the head", |handle| {
            InUse::hold(handle).map(HeadHold::new)
        })
        .await
    }

    async fn status(&self) -> std::result::Result<WorkspaceHeadStatus, WorkspaceError> {
        self.run("read the status", |handle| {
            let worktree = handle.open()?;
            let scan = scan(&worktree, Purpose::Show)?;
            let (entries, conflicted) = status::entries(&scan);
            Ok(WorkspaceHeadStatus {
                dirty: !entries.is_empty(),
                conflicted,
                archived: handle.reload()?.state == HeadState::Archived,
                entries,
                degraded: status::degraded(handle, &worktree, &scan)?,
            })
        })
        .await
    }

    async fn checkpoint(
        &self,
        label: Option<&str>,
    ) -> std::result::Result<WorkspaceCheckpoint, WorkspaceError> {
        let label = label.map(str::to_owned);
        let last_kept = self.last_kept.clone();
        self.run("take a checkpoint", move |handle| {
            let taken = last_kept.checkpoint(handle, label.as_deref(), None)?;
            convert::checkpoint(&taken)
        })
        .await
    }

    async fn checkpoint_paths(
        &self,
        label: Option<&str>,
        paths: &[WorkspacePath],
    ) -> std::result::Result<WorkspaceCheckpoint, WorkspaceError> {
        let label = label.map(str::to_owned);
        let paths: Vec<BString> = paths.iter().map(|path| path.relative().into()).collect();
        let last_kept = self.last_kept.clone();
        self.run("take a checkpoint", move |handle| {
            let taken = last_kept.checkpoint(handle, label.as_deref(), Some(&paths))?;
            convert::checkpoint(&taken)
        })
        .await
    }

    async fn checkpoints(&self) -> std::result::Result<Vec<WorkspaceCheckpoint>, WorkspaceError> {
        self.run("list the checkpoints", |handle| {
            let repository = handle.context.repository(&handle.workspace)?;
            let found = checkpoint::list(&repository, &handle.record.id)?;
            found.iter().map(convert::checkpoint).collect()
        })
        .await
    }

    async fn restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> std::result::Result<RestoreReceipt, WorkspaceError> {
        let (wanted, last_kept) = (checkpoint.clone(), self.last_kept.clone());
        self.run("restore the checkpoint", move |handle| {
            last_kept.forget();
            let target = head::kept(handle, &wanted)?;
            let restored = head::restore(handle, &target)?;
            Ok(RestoreReceipt {
                before: convert::checkpoint(&restored.before)?,
                changed: restored
                    .changed
                    .iter()
                    .map(|path| path_text(path.as_bstr()))
                    .collect(),
            })
        })
        .await
    }

    async fn included_ignored(&self) -> std::result::Result<IgnoredReport, WorkspaceError> {
        self.run("read which ignored files came along", |handle| {
            ignored::load(handle.layout(), &handle.record)
        })
        .await
    }

    async fn prune_checkpoints(
        &self,
        keep: usize,
    ) -> std::result::Result<PruneReceipt, WorkspaceError> {
        self.run("prune the checkpoints", move |handle| {
            let pruned = head::prune(handle, keep)?;
            Ok(PruneReceipt {
                removed: pruned
                    .removed
                    .iter()
                    .map(convert::checkpoint)
                    .collect::<Result<_>>()?,
                kept: pruned.kept,
            })
        })
        .await
    }

    async fn plan_restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> std::result::Result<RestorePlan, WorkspaceError> {
        let wanted = checkpoint.clone();
        self.run("plan the restore", move |handle| {
            let target = head::kept(handle, &wanted)?;
            let planned = head::plan_restore(handle, &target)?;
            Ok(convert::plan(&planned))
        })
        .await
    }

    async fn diff(&self, base: DiffBase) -> std::result::Result<WorkspaceDiff, WorkspaceError> {
        let request = DiffRequest {
            from: base,
            ..DiffRequest::default()
        };
        self.diff_range(request).await
    }

    async fn diff_range(
        &self,
        request: DiffRequest,
    ) -> std::result::Result<WorkspaceDiff, WorkspaceError> {
        self.run("compare the files", move |handle| {
            diff::range(handle, &request)
        })
        .await
    }

    async fn patch(
        &self,
        request: DiffRequest,
    ) -> std::result::Result<WorkspacePatch, WorkspaceError> {
        self.run("write a patch", move |handle| diff::patch(handle, &request))
            .await
    }

    async fn commit(
        &self,
        request: CommitRequest,
    ) -> std::result::Result<CommitReceipt, WorkspaceError> {
        self.run("commit", move |handle| {
            let committed = crate::commit::commit(handle, &request)?;
            Ok(convert::commit(handle, &committed))
        })
        .await
    }

    async fn update_from(
        &self,
        request: UpdateRequest,
    ) -> std::result::Result<UpdateOutcome, WorkspaceError> {
        self.run("update the head", move |handle| {
            crate::merge::update(handle, &request)
        })
        .await
    }

    async fn fork(
        &self,
        name: WorkspaceHeadName,
    ) -> std::result::Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let (backend, last_kept) = (self.backend.clone(), self.last_kept.clone());
        self.run("fork the head", move |handle| {
            drop(handle.lock_whole()?);
            let source = last_kept.checkpoint(handle, None, None)?;
            Self::forked(backend, handle, &name, source)
        })
        .await
    }

    async fn fork_from(
        &self,
        name: WorkspaceHeadName,
        checkpoint: &WorkspaceCheckpoint,
    ) -> std::result::Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let (backend, wanted) = (self.backend.clone(), checkpoint.clone());
        self.run("fork the head", move |handle| {
            drop(handle.lock_whole()?);
            // It is proved to be there, and the recorded one.
            handle.open()?;
            let source = head::kept(handle, &wanted)?;
            Self::forked(backend, handle, &name, source)
        })
        .await
    }

    async fn merge_into(
        &self,
        request: MergeRequest,
    ) -> std::result::Result<MergeOutcome, WorkspaceError> {
        self.run("merge the head", move |handle| {
            crate::merge::merge(handle, &request)
        })
        .await
    }

    async fn archive(&self) -> std::result::Result<ArchiveReceipt, WorkspaceError> {
        let id = self.descriptor.id.clone();
        self.run("archive the head", move |handle| {
            let record = head::archive(handle)?;
            Ok(ArchiveReceipt {
                head_id: id,
                branch: Some(record.branch),
                location: Some(handle.worktree().folder.display().to_string()),
            })
        })
        .await
    }

    async fn destroy(&self) -> std::result::Result<DestroyReceipt, WorkspaceError> {
        let id = self.descriptor.id.clone();
        self.run("destroy the head", move |handle| {
            let destroyed = head::destroy(handle)?;
            Ok(DestroyReceipt {
                head_id: id,
                kept_branch: destroyed.branch,
                kept_ref: destroyed.record.kept,
                checkpoint: destroyed
                    .checkpoint
                    .as_ref()
                    .map(convert::checkpoint)
                    .transpose()?,
                also_kept: destroyed.also_kept,
                removed: Some(handle.worktree().folder.display().to_string()),
            })
        })
        .await
    }
}
