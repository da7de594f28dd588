use std::sync::Arc;

use super::{
    WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError, WorkspaceHead,
    WorkspaceHeadBuilder, WorkspaceHeadDescriptor,
};
use crate::ids::{WorkspaceHeadId, WorkspaceId};

/// A project's lineage, kept by a backend. Cheap to clone; dropping it removes nothing.
#[derive(Clone, Debug)]
pub struct Workspace {
    backend: Arc<dyn WorkspaceBackend>,
    descriptor: WorkspaceDescriptor,
    /// What it was opened by.
    locator: String,
}

impl Workspace {
    /// Opens the workspace that `locator` leads to, such as a repository's path.
    ///
    /// # Errors
    /// As [`WorkspaceBackend::open_workspace`].
    pub async fn open(
        backend: Arc<dyn WorkspaceBackend>,
        locator: impl AsRef<str>,
    ) -> Result<Self, WorkspaceError> {
        let descriptor = backend.open_workspace(locator.as_ref()).await?;
        Ok(Self {
            backend,
            descriptor,
            locator: locator.as_ref().to_owned(),
        })
    }

    /// Its identity.
    pub fn id(&self) -> &WorkspaceId {
        &self.descriptor.id
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.descriptor.name
    }

    /// All that is known of it.
    pub fn descriptor(&self) -> &WorkspaceDescriptor {
        &self.descriptor
    }

    /// The backend that keeps it.
    pub fn backend(&self) -> &Arc<dyn WorkspaceBackend> {
        &self.backend
    }

    /// Begins a new head; nothing happens before [`create`](WorkspaceHeadBuilder::create).
    pub fn head(&self, name: impl Into<String>) -> WorkspaceHeadBuilder {
        let (backend, locator) = (Arc::clone(&self.backend), Some(self.locator.clone()));
        WorkspaceHeadBuilder::new(backend, self.id().clone(), name.into(), locator)
    }

    /// Opens exactly the head that `binding` names.
    ///
    /// # Errors
    /// As [`WorkspaceBackend::reopen_head`]; `IdentityMismatch` for a binding of another workspace.
    pub async fn reopen(
        &self,
        binding: &WorkspaceBinding,
    ) -> Result<WorkspaceHead, WorkspaceError> {
        if binding.workspace_id != self.descriptor.id {
            return Err(WorkspaceError::IdentityMismatch {
                expected: format!("a head of workspace {}", self.descriptor.id),
                found: format!("a binding to workspace {}", binding.workspace_id),
            });
        }
        WorkspaceHead::reopen(Arc::clone(&self.backend), binding).await
    }

    /// All its heads, archived and destroyed ones included, oldest first.
    ///
    /// # Errors
    /// As [`WorkspaceBackend::heads`].
    pub async fn heads(&self) -> Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError> {
        self.backend.heads(self.id()).await
    }

    /// Opens one of its heads by id.
    ///
    /// # Errors
    /// As [`WorkspaceBackend::reopen_head`].
    pub async fn open_head(&self, head: &WorkspaceHeadId) -> Result<WorkspaceHead, WorkspaceError> {
        let binding = self.backend.binding(self.id(), head).await?;
        self.reopen(&binding).await
    }
}
