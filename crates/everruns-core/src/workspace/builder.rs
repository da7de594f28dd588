use std::sync::Arc;

use super::{
    WorkspaceBackend, WorkspaceError, WorkspaceHead, WorkspaceHeadAccess, WorkspaceHeadName,
    WorkspaceHeadRequest,
};
use crate::ids::WorkspaceId;

/// A head about to be made. Isolated unless [`shared`](Self::shared) is called.
#[derive(Clone, Debug)]
#[must_use = "nothing is made before `create`"]
pub struct WorkspaceHeadBuilder {
    backend: Arc<dyn WorkspaceBackend>,
    workspace_id: WorkspaceId,
    name: String,
    revision: Option<String>,
    access: WorkspaceHeadAccess,
    locator: Option<String>,
    include_ignored: Vec<String>,
}

impl WorkspaceHeadBuilder {
    pub(super) fn new(
        backend: Arc<dyn WorkspaceBackend>,
        workspace_id: WorkspaceId,
        name: String,
        locator: Option<String>,
    ) -> Self {
        Self {
            backend,
            workspace_id,
            name,
            revision: None,
            access: WorkspaceHeadAccess::Isolated,
            locator,
            include_ignored: Vec::new(),
        }
    }

    /// Makes it from `revision`, in the backend's own syntax, such as a branch or commit.
    pub fn from_revision(mut self, revision: impl Into<String>) -> Self {
        self.revision = Some(revision.into());
        self
    }

    /// Lets several sessions use it at once.
    pub fn shared(mut self) -> Self {
        self.access = WorkspaceHeadAccess::Shared;
        self
    }

    /// Brings along ignored files of the user's own working tree that match one of `patterns`, in gitignore syntax.
    pub fn include_ignored(
        mut self,
        patterns: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.include_ignored
            .extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Makes the head.
    ///
    /// # Errors
    /// `InvalidName`, and as [`WorkspaceBackend::create_head`].
    pub async fn create(self) -> Result<WorkspaceHead, WorkspaceError> {
        let name = WorkspaceHeadName::new(self.name)?;
        let mut request = WorkspaceHeadRequest::new(self.workspace_id, name);
        request.revision = self.revision;
        request.access = self.access;
        request.locator = self.locator;
        request.include_ignored = self.include_ignored;
        let resource = self.backend.create_head(request).await?;
        Ok(WorkspaceHead::new(self.backend, resource))
    }
}
