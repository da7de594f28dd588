//! The backend: workspaces and how their heads are made and found again.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::entropy::SystemEntropy;
use everruns_core::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError,
    WorkspaceHeadDescriptor, WorkspaceHeadRequest, WorkspaceHeadResource, WorkspaceHeadState,
};

use super::head::JournalHead;
use super::journal_file::JournalFile;
use super::records::HeadRecord;
use super::tree::Tree;

/// Keeps heads in a journal file. A locator is any name.
#[derive(Debug)]
pub(crate) struct JournalBackend {
    id: WorkspaceBackendId,
    journal: Arc<JournalFile>,
}

impl JournalBackend {
    /// Opens or makes the state in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, WorkspaceError> {
        let id = WorkspaceBackendId::new("journal")
            .map_err(|error| WorkspaceError::backend("name itself", error))?;
        let journal = Arc::new(JournalFile::open(folder)?);
        Ok(Self { id, journal })
    }

    fn handle(
        &self,
        record: &HeadRecord,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let journal = Arc::clone(&self.journal);
        Ok(Arc::new(JournalHead::new(journal, &self.id, record)?))
    }
}

#[async_trait]
impl WorkspaceBackend for JournalBackend {
    fn id(&self) -> &WorkspaceBackendId {
        &self.id
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn open_workspace(&self, locator: &str) -> Result<WorkspaceDescriptor, WorkspaceError> {
        let (name, backend) = (locator.trim().to_owned(), self.id.clone());
        if name.is_empty() {
            return Err(WorkspaceError::InvalidLocator {
                locator: locator.to_owned(),
                reason: "it is empty: give the workspace a name".to_owned(),
            });
        }
        self.journal
            .change(move |records, _| {
                let known = records
                    .workspaces
                    .iter()
                    .find(|workspace| workspace.locator == name);
                if let Some(known) = known {
                    return Ok(known.clone());
                }
                let new = WorkspaceDescriptor {
                    id: WorkspaceId::generate(&SystemEntropy),
                    name: name.clone(),
                    backend,
                    locator: name,
                };
                records.workspaces.push(new.clone());
                Ok(new)
            })
            .await
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceDescriptor, WorkspaceError> {
        let id = id.clone();
        self.journal
            .change(move |records, _| records.workspace(&id).cloned())
            .await
    }

    async fn create_head(
        &self,
        request: WorkspaceHeadRequest,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        if let Some(revision) = request.revision {
            let reason = "a journal has no revisions".to_owned();
            return Err(WorkspaceError::UnknownRevision { revision, reason });
        }
        let record = HeadRecord {
            descriptor: WorkspaceHeadDescriptor {
                id: WorkspaceHeadId::generate(&SystemEntropy),
                name: request.name,
                workspace_id: request.workspace_id,
                base: String::new(),
                branch: None,
                access: request.access,
                state: WorkspaceHeadState::Ready,
                created_at: SystemClock.now(),
                forked_from: None,
            },
            claims: BTreeSet::new(),
            tree: Tree::default(),
            base: Tree::default(),
            checkpoints: Vec::new(),
            destroyed: None,
        };
        let handle = self.handle(&record)?;
        self.journal
            .change(move |records, _| {
                records.workspace(&record.descriptor.workspace_id)?;
                records.add(record)
            })
            .await?;
        Ok(handle)
    }

    async fn reopen_head(
        &self,
        binding: &WorkspaceBinding,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let (wanted, backend) = (binding.clone(), self.id.clone());
        let record = self
            .journal
            .change(move |records, _| {
                let record = records
                    .head(&wanted.workspace_id, &wanted.head_id)?
                    .ready()?;
                // Whatever differs from what was handed out could mean another head.
                if record.binding(&backend)? != wanted {
                    return Err(WorkspaceError::BindingCorrupt {
                        head: wanted.head_id,
                        reason: "it is not the one that was handed out for this head".to_owned(),
                    });
                }
                Ok(record.clone())
            })
            .await?;
        self.handle(&record)
    }

    async fn heads(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError> {
        let id = workspace.clone();
        self.journal
            .change(move |records, _| {
                records.workspace(&id)?;
                let heads = records.heads.iter().map(|head| &head.descriptor);
                Ok(heads
                    .filter(|head| head.workspace_id == id)
                    .cloned()
                    .collect())
            })
            .await
    }

    async fn binding(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<WorkspaceBinding, WorkspaceError> {
        let (workspace, head, backend) = (workspace.clone(), head.clone(), self.id.clone());
        self.journal
            .change(move |records, _| records.head(&workspace, &head)?.binding(&backend))
            .await
    }

    async fn unarchive_head(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<(), WorkspaceError> {
        let (workspace, head) = (workspace.clone(), head.clone());
        self.journal
            .change(move |records, _| {
                records.head(&workspace, &head)?.alive()?.descriptor.state =
                    WorkspaceHeadState::Ready;
                Ok(())
            })
            .await
    }
}
