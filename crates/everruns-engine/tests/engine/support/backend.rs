use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError,
    WorkspaceHeadDescriptor, WorkspaceHeadRequest, WorkspaceHeadResource,
};

/// A backend that reopens another head than the one asked for.
#[derive(Debug)]
pub(crate) struct Swapped {
    pub(crate) inner: Arc<dyn WorkspaceBackend>,
    pub(crate) other: WorkspaceBinding,
}

#[async_trait]
impl WorkspaceBackend for Swapped {
    fn id(&self) -> &WorkspaceBackendId {
        self.inner.id()
    }

    fn is_durable(&self) -> bool {
        self.inner.is_durable()
    }

    async fn open_workspace(&self, locator: &str) -> Result<WorkspaceDescriptor, WorkspaceError> {
        self.inner.open_workspace(locator).await
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceDescriptor, WorkspaceError> {
        self.inner.workspace(id).await
    }

    async fn create_head(
        &self,
        request: WorkspaceHeadRequest,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        self.inner.create_head(request).await
    }

    async fn reopen_head(
        &self,
        _: &WorkspaceBinding,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        self.inner.reopen_head(&self.other).await
    }

    async fn heads(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError> {
        self.inner.heads(workspace).await
    }

    async fn binding(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<WorkspaceBinding, WorkspaceError> {
        self.inner.binding(workspace, head).await
    }

    async fn unarchive_head(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<(), WorkspaceError> {
        self.inner.unarchive_head(workspace, head).await
    }
}
