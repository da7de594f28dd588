use std::collections::BTreeMap;
use std::sync::Arc;

use everruns_core::ids::{WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    WorkspaceCheckpoint, WorkspaceError, WorkspaceHeadAccess, WorkspaceHeadDescriptor,
    WorkspaceHeadName, WorkspaceHeadRequest, WorkspaceHeadState,
};

use super::commits::Note;
use super::kept::Kept;
use super::lineage::Lineage;
use super::named::Named;
use super::resource::MemoryHead;
use super::state::{HeadState, WorkspaceState};
use super::workspace_backend::{MAIN, Shared};
use crate::memory::{MemoryFileSystem, Tree};

/// What a new head begins with.
struct Start {
    base: Tree,
    files: Tree,
    forked_from: Option<WorkspaceHeadId>,
    /// The checkpoint's state that it is made from.
    origin: Option<String>,
    lineage: Lineage,
}

impl Shared {
    pub(super) fn create(
        self: &Arc<Self>,
        request: &WorkspaceHeadRequest,
    ) -> Result<MemoryHead, WorkspaceError> {
        let mut state = self.state();
        let workspace = state.workspace(&request.workspace_id)?;
        let text = request.revision.as_deref().unwrap_or(MAIN);
        let (base, lineage) = workspace.revision(text)?;
        let lineage = lineage.beginning(&base, self.note_of_beginning());
        let start = Start {
            files: base.clone(),
            base,
            forked_from: None,
            origin: None,
            lineage,
        };
        self.add(workspace, &request.name, request.access, start)
    }

    /// A head with the files of another. It keeps the base, so that both tell the same differences.
    pub(super) fn fork(
        self: &Arc<Self>,
        workspace: &WorkspaceId,
        source: &WorkspaceHeadId,
        name: &WorkspaceHeadName,
    ) -> Result<MemoryHead, WorkspaceError> {
        let mut state = self.state();
        let head = state.head(workspace, source)?;
        head.not_destroyed()?;
        let start = Start {
            base: head.base.clone(),
            files: head.files.tree(),
            forked_from: Some(source.clone()),
            origin: None,
            lineage: head.lineage.clone(),
        };
        let workspace = state.workspace(workspace)?;
        self.add(workspace, name, WorkspaceHeadAccess::Isolated, start)
    }

    /// As [`fork`](Self::fork), with the state of a checkpoint of the workspace: its files, what its head was made from, and
    /// what that had merged when it took it. Merging the fork then brings nothing back that was merged later. Of a destroyed
    /// head what it was made from may be forgotten; then it is its last commit.
    pub(super) fn fork_from(
        self: &Arc<Self>,
        workspace: &WorkspaceId,
        source: &WorkspaceHeadId,
        name: &WorkspaceHeadName,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<MemoryHead, WorkspaceError> {
        let mut state = self.state();
        state.head(workspace, source)?.not_destroyed()?;
        let workspace = state.workspace(workspace)?;
        let named = workspace.checkpoint(&checkpoint.revision)?;
        let maker = if workspace.heads.get(&checkpoint.head_id).is_some() {
            &checkpoint.head_id
        } else {
            source
        };
        let maker = workspace.heads.get(maker);
        let maker = maker.ok_or_else(|| WorkspaceError::HeadNotFound {
            head: source.clone(),
        })?;
        let lineage = workspace.lineage_at(checkpoint);
        let mut lineage = lineage.unwrap_or_else(|| named.lineage());
        if checkpoint.number == 0 {
            // What needed no record is a commit, with nothing to merge.
            lineage = lineage.beginning(named.tree(), self.note_of_beginning());
        }
        let base = if maker.receipt.is_none() {
            maker.base.clone()
        } else {
            let base = workspace.revisions.get(&maker.descriptor.base);
            base.map_or(&lineage.last.tree, Named::tree).clone()
        };
        let start = Start {
            base,
            files: named.tree().clone(),
            forked_from: Some(source.clone()),
            origin: Some(checkpoint.revision.clone()),
            lineage,
        };
        self.add(workspace, name, WorkspaceHeadAccess::Isolated, start)
    }

    /// What is said of the state of a checkpoint where a head begins with it.
    fn note_of_beginning(&self) -> Note {
        Note {
            message: "Work that a checkpoint kept\n".to_owned(),
            author: None,
            at: self.options.clock.now(),
        }
    }

    fn add(
        self: &Arc<Self>,
        workspace: &mut WorkspaceState,
        name: &WorkspaceHeadName,
        access: WorkspaceHeadAccess,
        start: Start,
    ) -> Result<MemoryHead, WorkspaceError> {
        workspace.heads.check_name(name)?;
        let id = WorkspaceHeadId::generate(self.entropy.as_ref());
        let branch = branch_of(name, &id);
        let last = Arc::clone(&start.lineage.last);
        let descriptor = WorkspaceHeadDescriptor {
            id: id.clone(),
            name: name.clone(),
            workspace_id: workspace.descriptor.id.clone(),
            base: workspace.keep_base(&start.base, &start.lineage),
            branch: Some(branch.clone()),
            access,
            state: WorkspaceHeadState::Ready,
            created_at: self.options.clock.now(),
            forked_from: start.forked_from,
        };
        let files = MemoryFileSystem::of(start.files, self.options.clone());
        workspace.heads.add(HeadState {
            descriptor: descriptor.clone(),
            files: files.clone(),
            base: start.base,
            began: Arc::clone(&last),
            branch: branch.clone(),
            commits: BTreeMap::new(),
            held: Arc::default(),
            owner: None,
            kept: Kept::default(),
            origin: start.origin,
            lineage: start.lineage,
            receipt: None,
        })?;
        workspace.owners.insert(branch, id.clone());
        workspace.set_last(&id, &last)?;
        Ok(MemoryHead::new(Arc::clone(self), descriptor, files))
    }
}

/// The branch of a head's commits. The end of the id keeps those of equal names apart.
fn branch_of(name: &WorkspaceHeadName, id: &WorkspaceHeadId) -> String {
    let id = id.to_string();
    let end = id.len().saturating_sub(10);
    format!("everruns/{}-{}", name.slug(), id.get(end..).unwrap_or(&id))
}
