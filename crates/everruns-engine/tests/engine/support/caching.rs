use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::ids::SessionId;
use everruns_core::workspace::{
    ArchiveReceipt, DestroyReceipt, DiffBase, MergeOutcome, MergeRequest, RestoreReceipt,
    WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDiff, WorkspaceError, WorkspaceHead,
    WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadResource, WorkspaceHeadStatus,
};

/// A head that counts how often it is told to forget what it can find again.
#[derive(Debug)]
pub(crate) struct Caching {
    inner: WorkspaceHead,
    drops: AtomicU32,
}

impl Caching {
    pub(crate) fn over(inner: WorkspaceHead) -> (Arc<Self>, WorkspaceHead) {
        let backend = Arc::clone(inner.backend());
        let caching = Arc::new(Self {
            inner,
            drops: AtomicU32::new(0),
        });
        let head = WorkspaceHead::new(backend, Arc::clone(&caching) as _);
        (caching, head)
    }

    pub(crate) fn drops(&self) -> u32 {
        self.drops.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl WorkspaceHeadResource for Caching {
    fn descriptor(&self) -> &WorkspaceHeadDescriptor {
        self.inner.descriptor()
    }

    fn binding(&self) -> WorkspaceBinding {
        self.inner.binding()
    }

    fn file_system(&self) -> Arc<dyn SessionFileSystem> {
        self.inner.file_system()
    }

    fn drop_caches(&self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
    }

    async fn claim(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        self.inner.claim(session).await
    }

    async fn release(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        self.inner.release(session).await
    }

    async fn status(&self) -> Result<WorkspaceHeadStatus, WorkspaceError> {
        self.inner.status().await
    }

    async fn checkpoint(&self, _: Option<&str>) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        self.inner.checkpoint().await
    }

    async fn checkpoints(&self) -> Result<Vec<WorkspaceCheckpoint>, WorkspaceError> {
        self.inner.checkpoints().await
    }

    async fn restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError> {
        self.inner.restore(checkpoint).await
    }

    async fn diff(&self, _: DiffBase) -> Result<WorkspaceDiff, WorkspaceError> {
        self.inner.diff().await
    }

    async fn fork(
        &self,
        _: WorkspaceHeadName,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        Err(WorkspaceError::Unsupported {
            backend: self.inner.binding().provider_id,
            operation: "fork a head",
        })
    }

    async fn merge_into(&self, request: MergeRequest) -> Result<MergeOutcome, WorkspaceError> {
        self.inner.merge(request).await
    }

    async fn archive(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.inner.archive().await
    }

    async fn destroy(&self) -> Result<DestroyReceipt, WorkspaceError> {
        self.inner.destroy().await
    }
}
