//! One open head.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::entropy::SystemEntropy;
use everruns_core::file_system::{ContentVersion, SessionFileSystem};
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId};
use everruns_core::workspace::{
    ArchiveReceipt, DestroyReceipt, DiffBase, HeadHold, MergeOutcome, MergeRequest, RestoreReceipt,
    WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDiff, WorkspaceError, WorkspaceHeadAccess,
    WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadResource, WorkspaceHeadState,
    WorkspaceHeadStatus,
};

use super::diff;
use super::file_system::JournalFileSystem;
use super::journal_file::JournalFile;
use super::records::{HeadRecord, Records};
use super::tree::Tree;

/// A handle on a head of the journal.
#[derive(Debug)]
pub(crate) struct JournalHead {
    journal: Arc<JournalFile>,
    descriptor: WorkspaceHeadDescriptor,
    binding: WorkspaceBinding,
}

impl JournalHead {
    pub(crate) fn new(
        journal: Arc<JournalFile>,
        backend: &WorkspaceBackendId,
        record: &HeadRecord,
    ) -> Result<Self, WorkspaceError> {
        let (descriptor, binding) = (record.descriptor.clone(), record.binding(backend)?);
        Ok(Self {
            journal,
            descriptor,
            binding,
        })
    }

    /// Runs `work` on the record of this head as one atomic step.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut HeadRecord) -> Result<T, WorkspaceError> + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        let own = self.descriptor.clone();
        self.journal
            .change(move |records, _| work(records.head(&own.workspace_id, &own.id)?))
            .await
    }
}

/// Keeps the present state of a head unless the last checkpoint is the same.
fn keep(
    head: &mut HeadRecord,
    label: Option<String>,
) -> Result<WorkspaceCheckpoint, WorkspaceError> {
    let json = serde_json::to_vec(&head.tree)
        .map_err(|error| WorkspaceError::backend("name a checkpoint", error))?;
    let revision = ContentVersion::of(&json).to_string();
    if let Some((kept, _)) = head
        .checkpoints
        .iter()
        .find(|(kept, _)| kept.revision == revision)
    {
        return Ok(kept.clone());
    }
    let checkpoint = WorkspaceCheckpoint {
        head_id: head.descriptor.id.clone(),
        number: head.checkpoints.len() as u64 + 1,
        revision,
        created_at: SystemClock.now(),
        label,
        uncommitted: head.tree != head.base,
        location: None,
        changed_paths: None,
        uncaptured: Vec::new(),
    };
    head.checkpoints
        .push((checkpoint.clone(), head.tree.clone()));
    Ok(checkpoint)
}

fn fork_of(head: &HeadRecord, name: WorkspaceHeadName) -> HeadRecord {
    let origin = &head.descriptor;
    HeadRecord {
        descriptor: WorkspaceHeadDescriptor {
            id: WorkspaceHeadId::generate(&SystemEntropy),
            name,
            access: WorkspaceHeadAccess::Isolated,
            state: WorkspaceHeadState::Ready,
            created_at: SystemClock.now(),
            forked_from: Some(origin.id.clone()),
            ..origin.clone()
        },
        claims: BTreeSet::new(),
        tree: head.tree.clone(),
        base: head.base.clone(),
        checkpoints: Vec::new(),
        destroyed: None,
    }
}

fn base_tree(
    records: &mut Records,
    own: &WorkspaceHeadDescriptor,
    base: &DiffBase,
) -> Result<Tree, WorkspaceError> {
    match base {
        DiffBase::HeadBase => Ok(records.head(&own.workspace_id, &own.id)?.base.clone()),
        DiffBase::Checkpoint(checkpoint) => records.kept(&own.workspace_id, checkpoint),
        _ => Err(WorkspaceError::backend(
            "compare with this base",
            "it is not known here",
        )),
    }
}

fn busy(head: WorkspaceHeadId) -> WorkspaceError {
    WorkspaceError::HeadBusy {
        head,
        reason: "a turn runs on it".to_owned(),
    }
}

#[async_trait]
impl WorkspaceHeadResource for JournalHead {
    fn descriptor(&self) -> &WorkspaceHeadDescriptor {
        &self.descriptor
    }

    fn binding(&self) -> WorkspaceBinding {
        self.binding.clone()
    }

    fn file_system(&self) -> Arc<dyn SessionFileSystem> {
        Arc::new(JournalFileSystem {
            journal: Arc::clone(&self.journal),
            workspace: self.descriptor.workspace_id.clone(),
            head: self.descriptor.id.clone(),
        })
    }

    async fn claim(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        let session = session.clone();
        self.with(move |head| {
            let head = head.ready()?;
            let other = head.claims.iter().find(|other| **other != session);
            if let (WorkspaceHeadAccess::Isolated, Some(other)) = (head.descriptor.access, other) {
                return Err(WorkspaceError::HeadClaimed {
                    head: head.descriptor.id.clone(),
                    session: other.clone(),
                });
            }
            head.claims.insert(session);
            Ok(())
        })
        .await
    }

    async fn release(&self, session: &SessionId) -> Result<(), WorkspaceError> {
        let session = session.clone();
        self.with(move |head| {
            head.claims.remove(&session);
            Ok(())
        })
        .await
    }

    async fn hold(&self, _: &SessionId) -> Result<HeadHold, WorkspaceError> {
        let id = self.descriptor.id.clone();
        let own = (self.descriptor.workspace_id.clone(), id.clone());
        self.journal
            .change(move |records, journal| {
                records.head(&own.0, &own.1)?.alive()?;
                // Whoever destroys the head changes the journal, too: nobody does right now.
                let mark = journal.mark(id.as_str(), false)?;
                mark.map(HeadHold::new).ok_or_else(|| busy(id))
            })
            .await
    }

    async fn status(&self) -> Result<WorkspaceHeadStatus, WorkspaceError> {
        self.with(|head| {
            let head = head.alive()?;
            let entries = diff::status(&head.base, &head.tree);
            Ok(WorkspaceHeadStatus {
                dirty: !entries.is_empty(),
                archived: head.descriptor.state == WorkspaceHeadState::Archived,
                entries,
                ..WorkspaceHeadStatus::default()
            })
        })
        .await
    }

    async fn checkpoint(&self, label: Option<&str>) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        let label = label.map(str::to_owned);
        self.with(move |head| keep(head.alive()?, label)).await
    }

    async fn checkpoints(&self) -> Result<Vec<WorkspaceCheckpoint>, WorkspaceError> {
        self.with(|head| {
            Ok(head
                .checkpoints
                .iter()
                .map(|(kept, _)| kept.clone())
                .collect())
        })
        .await
    }

    async fn restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError> {
        let (own, checkpoint) = (self.descriptor.clone(), checkpoint.clone());
        self.journal
            .change(move |records, _| {
                let tree = records.kept(&own.workspace_id, &checkpoint)?;
                let head = records.head(&own.workspace_id, &own.id)?.alive()?;
                let before = keep(head, None)?;
                let changed = diff::changed_paths(&head.tree, &tree);
                head.tree = tree;
                Ok(RestoreReceipt { before, changed })
            })
            .await
    }

    async fn diff(&self, base: DiffBase) -> Result<WorkspaceDiff, WorkspaceError> {
        let own = self.descriptor.clone();
        self.journal
            .change(move |records, journal| {
                let base = base_tree(records, &own, &base)?;
                let head = records.head(&own.workspace_id, &own.id)?.alive()?;
                diff::diff(journal, &base, &head.tree)
                    .map_err(|error| WorkspaceError::backend("compare contents", error))
            })
            .await
    }

    async fn fork(
        &self,
        name: WorkspaceHeadName,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let own = self.descriptor.clone();
        let record = self
            .journal
            .change(move |records, _| {
                let fork = fork_of(records.head(&own.workspace_id, &own.id)?.alive()?, name);
                records.add(fork.clone())?;
                Ok::<_, WorkspaceError>(fork)
            })
            .await?;
        let journal = Arc::clone(&self.journal);
        Ok(Arc::new(Self::new(
            journal,
            &self.binding.provider_id,
            &record,
        )?))
    }

    async fn merge_into(&self, _request: MergeRequest) -> Result<MergeOutcome, WorkspaceError> {
        Err(WorkspaceError::Unsupported {
            backend: self.binding.provider_id.clone(),
            operation: "merge heads: a journal has no branches",
        })
    }

    async fn archive(&self) -> Result<ArchiveReceipt, WorkspaceError> {
        self.with(|head| {
            let head = head.alive()?;
            head.descriptor.state = WorkspaceHeadState::Archived;
            let head_id = head.descriptor.id.clone();
            Ok(ArchiveReceipt {
                head_id,
                branch: None,
                location: None,
            })
        })
        .await
    }

    async fn destroy(&self) -> Result<DestroyReceipt, WorkspaceError> {
        let journal = Arc::clone(&self.journal);
        self.with(move |head| {
            if let Some(receipt) = &head.destroyed {
                return Ok(receipt.clone());
            }
            let id = head.descriptor.id.clone();
            let _alone = journal.mark(id.as_str(), true)?.ok_or_else(|| busy(id))?;
            let dirty = head.tree != head.base;
            let checkpoint = if dirty { Some(keep(head, None)?) } else { None };
            let receipt = DestroyReceipt {
                head_id: head.descriptor.id.clone(),
                kept_branch: None,
                kept_ref: checkpoint.as_ref().map(|kept| kept.revision.clone()),
                checkpoint,
                also_kept: Vec::new(),
                removed: Some("the head's map of files".to_owned()),
            };
            head.tree = Tree::default();
            head.claims.clear();
            head.descriptor.state = WorkspaceHeadState::Destroyed;
            head.destroyed = Some(receipt.clone());
            Ok(receipt)
        })
        .await
    }
}
