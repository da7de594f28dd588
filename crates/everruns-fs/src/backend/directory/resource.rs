use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::ids::{SessionId, WorkspaceBackendId};
use everruns_core::workspace::{
    ArchiveReceipt, BindingPayload, DestroyReceipt, DiffBase, MergeOutcome, MergeRequest,
    RestoreReceipt, WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDiff, WorkspaceError,
    WorkspaceHeadAccess, WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadResource,
    WorkspaceHeadStatus,
};
use serde::{Deserialize, Serialize};

use super::place::{Identity, Place};
use super::workspace_backend::Shared;
use crate::disk::DiskFileSystem;

/// The directory, open.
#[derive(Clone, Debug)]
pub(super) struct DirectoryHead {
    shared: Arc<Shared>,
    descriptor: WorkspaceHeadDescriptor,
    files: DiskFileSystem,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    format: u32,
    /// The exact canonical path.
    path: String,
    identity: Identity,
}

const PAYLOAD_FORMAT: u32 = 1;

pub(super) fn binding(backend: &WorkspaceBackendId, place: &Place) -> WorkspaceBinding {
    WorkspaceBinding {
        provider_id: backend.clone(),
        workspace_id: place.workspace_id(),
        head_id: place.head_id(),
        access: WorkspaceHeadAccess::Shared,
        payload: BindingPayload::new(Payload {
            format: PAYLOAD_FORMAT,
            path: place.text.clone(),
            identity: place.identity,
        })
        .expect("a canonical path is shorter than the bound and, as it starts with `/`, no URL"),
    }
}

/// Checks that a binding is to the directory at `place`, and to no other that was there before.
pub(super) fn check_binding(
    binding: &WorkspaceBinding,
    place: &Place,
) -> Result<(), WorkspaceError> {
    let head = || binding.head_id.clone();
    let corrupt = |reason: String| WorkspaceError::BindingCorrupt {
        head: head(),
        reason,
    };
    let payload = Payload::deserialize(binding.payload.value())
        .map_err(|error| corrupt(error.to_string()))?;
    if payload.format != PAYLOAD_FORMAT {
        return Err(corrupt(format!("its format is {}", payload.format)));
    }
    let recorded = Place {
        path: payload.path.clone().into(),
        text: payload.path,
        identity: payload.identity,
    };
    if recorded.workspace_id() != binding.workspace_id || recorded.head_id() != binding.head_id {
        return Err(corrupt(
            "its path and identity are not those of the ids".to_owned(),
        ));
    }
    if recorded.path != place.path {
        return Err(WorkspaceError::HeadUnavailable {
            head: head(),
            reason: format!(
                "it is the directory {}, and this agent's is {}",
                recorded.text, place.text
            ),
        });
    }
    if !recorded.identity.is_same(&place.identity) {
        return Err(WorkspaceError::HeadUnavailable {
            head: head(),
            reason: format!("{} is another directory now", place.text),
        });
    }
    if binding.access != WorkspaceHeadAccess::Shared {
        return Err(WorkspaceError::IdentityMismatch {
            expected: format!("the {} head {}", binding.access.as_str(), binding.head_id),
            found: "a shared one".to_owned(),
        });
    }
    Ok(())
}

impl DirectoryHead {
    pub(super) fn new(
        shared: Arc<Shared>,
        descriptor: WorkspaceHeadDescriptor,
        files: DiskFileSystem,
    ) -> Self {
        Self {
            shared,
            descriptor,
            files,
        }
    }

    fn unsupported<T>(&self, operation: &'static str) -> Result<T, WorkspaceError> {
        Err(WorkspaceError::Unsupported {
            backend: self.shared.id.clone(),
            operation,
        })
    }
}

#[async_trait]
impl WorkspaceHeadResource for DirectoryHead {
    fn descriptor(&self) -> &WorkspaceHeadDescriptor {
        &self.descriptor
    }

    fn binding(&self) -> WorkspaceBinding {
        binding(&self.shared.id, &self.shared.place)
    }

    fn file_system(&self) -> Arc<dyn SessionFileSystem> {
        Arc::new(self.files.clone())
    }

    /// A shared head takes any session, so nothing is recorded.
    async fn claim(&self, _: &SessionId) -> Result<(), WorkspaceError> {
        let (workspace, head) = (&self.descriptor.workspace_id, &self.descriptor.id);
        if self.shared.record(workspace, head).await?.archived {
            return Err(WorkspaceError::HeadArchived { head: head.clone() });
        }
        self.shared.verify().await
    }

    async fn release(&self, _: &SessionId) -> Result<(), WorkspaceError> {
        Ok(())
    }

    async fn status(&self) -> Result<WorkspaceHeadStatus, WorkspaceError> {
        self.unsupported("tell what changed in a plain directory")
    }

    async fn checkpoint(&self, _: Option<&str>) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        self.unsupported("keep states of a plain directory")
    }

    /// None can have been taken.
    async fn checkpoints(&self) -> Result<Vec<WorkspaceCheckpoint>, WorkspaceError> {
        Ok(Vec::new())
    }

    async fn restore(&self, _: &WorkspaceCheckpoint) -> Result<RestoreReceipt, WorkspaceError> {
        self.unsupported("restore states of a plain directory")
    }

    async fn diff(&self, _: DiffBase) -> Result<WorkspaceDiff, WorkspaceError> {
        self.unsupported("tell what changed in a plain directory")
    }

    async fn fork(
        &self,
        _: WorkspaceHeadName,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        self.unsupported("fork a plain directory")
    }

    async fn fork_from(
        &self,
        _: WorkspaceHeadName,
        _: &WorkspaceCheckpoint,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        self.unsupported("fork a plain directory")
    }

    async fn merge_into(&self, _: MergeRequest) -> Result<MergeOutcome, WorkspaceError> {
        self.unsupported("merge a plain directory")
    }

    async fn archive(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.shared
            .records
            .set_archived(&self.descriptor.id, true)
            .await?;
        Ok(ArchiveReceipt {
            head_id: self.descriptor.id.clone(),
            branch: None,
            location: Some(self.shared.place.text.clone()),
        })
    }

    async fn destroy(&self) -> Result<DestroyReceipt, WorkspaceError> {
        self.unsupported("destroy this head: the directory is its user's, and archiving is enough")
    }
}
