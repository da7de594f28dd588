use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use everruns_core::entropy::{Entropy, SystemEntropy};
use everruns_core::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError,
    WorkspaceHeadDescriptor, WorkspaceHeadRequest, WorkspaceHeadResource, WorkspaceHeadState,
};

use super::commits::{Commit, Note};
use super::heads::Heads;
use super::resource::MemoryHead;
use super::state::{State, WorkspaceState};
use crate::memory::{DigestKey, MemoryOptions, Tree};

/// The branch that every workspace begins with, empty.
pub(super) const MAIN: &str = "main";

/// Keeps workspaces in memory.
///
/// Any text is the locator of a workspace; the same text leads to the same one for as long as the backend
/// lives. A workspace begins with the empty branch `main`. Heads support every operation: checkpoints, forks and commits share what
/// did not change, merges and updates go line by line. Each head has a branch of its own for its commits, which stays when
/// the head is destroyed; [`log`](Self::log) tells them. What only a checkpoint holds is in memory until
/// [`prune_checkpoints`](WorkspaceHeadResource::prune_checkpoints) forgets it; what was committed or merged stays.
/// Revisions are made of names, bytes and modes with a key of the backend's own, so equal states have equal revisions in one
/// backend. Taking a checkpoint and forking cost the same for any number of files and of changes; status, differences, patches,
/// restores, commits, merges and updates cost what changed.
///
/// Nothing outlives the backend: a binding of an earlier process is
/// [`HeadNotFound`](WorkspaceError::HeadNotFound). Clones are the same backend.
#[derive(Clone, Debug)]
pub struct MemoryWorkspaceBackend {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: WorkspaceBackendId,
    pub(super) options: MemoryOptions,
    pub(super) entropy: Arc<dyn Entropy>,
    /// What the revisions of all trees are made with.
    key: DigestKey,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryWorkspaceBackend {
    /// A backend without workspaces, with the default bounds.
    pub fn new() -> Self {
        Self::with_options(MemoryOptions::default(), Arc::new(SystemEntropy))
    }

    /// A backend without workspaces; `options` hold for each head.
    ///
    /// `entropy` makes ids and, first of all, the key of the revisions. Its bytes have to be secret where somebody who is not
    /// trusted chooses what files hold: with the key, one can make two states with one revision.
    pub fn with_options(options: MemoryOptions, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            shared: Arc::new(Shared {
                id: WorkspaceBackendId::new("memory").expect("a literal that is an id"),
                options,
                key: DigestKey::new(entropy.as_ref()),
                entropy,
                state: Mutex::default(),
            }),
        }
    }
}

impl Default for MemoryWorkspaceBackend {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl WorkspaceBackend for MemoryWorkspaceBackend {
    fn id(&self) -> &WorkspaceBackendId {
        &self.shared.id
    }

    fn is_durable(&self) -> bool {
        false
    }

    async fn open_workspace(&self, locator: &str) -> Result<WorkspaceDescriptor, WorkspaceError> {
        let mut state = self.shared.state();
        if let Some(id) = state.by_locator.get(locator).cloned() {
            return Ok(state.workspace(&id)?.descriptor.clone());
        }
        let descriptor = WorkspaceDescriptor {
            id: WorkspaceId::generate(self.shared.entropy.as_ref()),
            name: if locator.is_empty() {
                "memory"
            } else {
                locator
            }
            .to_owned(),
            backend: self.shared.id.clone(),
            locator: locator.to_owned(),
        };
        let now = self.shared.options.clock.now();
        let empty = Tree::empty(self.shared.key, now);
        let first = Commit::new(empty, Vec::new(), Note::nothing(now));
        let mut workspace = WorkspaceState {
            descriptor: descriptor.clone(),
            branches: BTreeMap::from([(MAIN.to_owned(), Arc::clone(&first))]),
            owners: BTreeMap::new(),
            revisions: BTreeMap::new(),
            heads: Heads::default(),
        };
        workspace.keep_commit(&first);
        state
            .by_locator
            .insert(locator.to_owned(), descriptor.id.clone());
        state.workspaces.insert(descriptor.id.clone(), workspace);
        Ok(descriptor)
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceDescriptor, WorkspaceError> {
        Ok(self.shared.state().workspace(id)?.descriptor.clone())
    }

    async fn create_head(
        &self,
        request: WorkspaceHeadRequest,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        Ok(Arc::new(self.shared.create(&request)?))
    }

    async fn reopen_head(
        &self,
        binding: &WorkspaceBinding,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        if binding.provider_id != self.shared.id {
            return Err(WorkspaceError::backend_unavailable(
                binding.provider_id.clone(),
            ));
        }
        super::resource::check_payload(binding)?;
        let mut state = self.shared.state();
        let head = state.head(&binding.workspace_id, &binding.head_id)?;
        head.not_destroyed()?;
        head.not_archived()?;
        if head.descriptor.access != binding.access {
            return Err(WorkspaceError::IdentityMismatch {
                expected: format!("{} head {}", binding.access.as_str(), binding.head_id),
                found: format!("{} head", head.descriptor.access.as_str()),
            });
        }
        let (descriptor, files) = (head.descriptor.clone(), head.files.clone());
        Ok(Arc::new(MemoryHead::new(
            Arc::clone(&self.shared),
            descriptor,
            files,
        )))
    }

    async fn heads(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError> {
        let mut state = self.shared.state();
        let heads = &state.workspace(workspace)?.heads;
        Ok(heads.iter().map(|head| head.descriptor.clone()).collect())
    }

    async fn binding(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<WorkspaceBinding, WorkspaceError> {
        let mut state = self.shared.state();
        let descriptor = &state.head(workspace, head)?.descriptor;
        Ok(super::resource::binding(&self.shared.id, descriptor))
    }

    async fn unarchive_head(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<(), WorkspaceError> {
        let mut state = self.shared.state();
        let head = state.head(workspace, head)?;
        head.not_destroyed()?;
        head.descriptor.state = WorkspaceHeadState::Ready;
        Ok(())
    }
}
