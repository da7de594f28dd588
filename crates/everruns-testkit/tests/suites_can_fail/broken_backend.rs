//! A backend that breaks one promise.

use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError, WorkspaceHeadAccess,
    WorkspaceHeadDescriptor, WorkspaceHeadRequest, WorkspaceHeadResource,
};

/// Which promise is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// An archived head is simply opened.
    OpensArchived,
    /// Whatever the payload says, a head of that id is opened.
    IgnoresPayload,
    /// Heads are shared unless asked.
    SharedByDefault,
    /// An unknown head is replaced by a new one.
    Substitutes,
}

#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) inner: Arc<dyn WorkspaceBackend>,
    pub(crate) flaw: Flaw,
}

#[async_trait]
impl WorkspaceBackend for Broken {
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
        mut request: WorkspaceHeadRequest,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        if self.flaw == Flaw::SharedByDefault {
            request.access = WorkspaceHeadAccess::Shared;
        }
        self.inner.create_head(request).await
    }

    async fn reopen_head(
        &self,
        binding: &WorkspaceBinding,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let (workspace, head) = (&binding.workspace_id, &binding.head_id);
        match self.flaw {
            Flaw::OpensArchived => self.inner.unarchive_head(workspace, head).await?,
            Flaw::IgnoresPayload => {
                let kept = self.inner.binding(workspace, head).await?;
                return self.inner.reopen_head(&kept).await;
            }
            Flaw::Substitutes => {
                let result = self.inner.reopen_head(binding).await;
                if let Err(WorkspaceError::HeadNotFound { .. }) = result {
                    let name = "substitute".parse()?;
                    let request = WorkspaceHeadRequest::new(workspace.clone(), name);
                    return self.inner.create_head(request).await;
                }
                return result;
            }
            Flaw::SharedByDefault => {}
        }
        self.inner.reopen_head(binding).await
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
