use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::clock::{Clock, SystemClock};
use everruns_core::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError, WorkspaceHeadAccess,
    WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadRequest, WorkspaceHeadResource,
    WorkspaceHeadState,
};

use super::place::Place;
use super::record::{Record, Records};
use super::resource::{self, DirectoryHead};
use crate::disk::{DiskFileSystem, DiskOptions, blocking};

/// Keeps one local directory as one shared head.
///
/// The directory is the user's: this backend only reads and writes files in it, never removes it, and knows
/// nothing of versions. `archive` is kept in the state folder; `status`, `diff`, `checkpoint`, `restore`, `fork`,
/// `merge_into` and `destroy` are [`Unsupported`](WorkspaceError::Unsupported), and so is an isolated head: every
/// session sees every other's changes.
///
/// The head's id comes from the directory's canonical path and from what the host knows it by, its inode and
/// its time of birth. A directory that takes its place is another head, and a binding to the old one is
/// [`HeadUnavailable`](WorkspaceError::HeadUnavailable). Clones are the same backend.
#[derive(Clone, Debug)]
pub struct DirectoryWorkspaceBackend {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: WorkspaceBackendId,
    pub(super) place: Place,
    pub(super) records: Records,
    pub(super) clock: Arc<dyn Clock>,
    lock_dir: PathBuf,
}

impl DirectoryWorkspaceBackend {
    /// A backend for the directory at `path`, with its own records and locks in the folder `state`, which is made
    /// when missing. Processes that share the directory must be given the same `state`.
    ///
    /// Blocks for a moment.
    ///
    /// # Errors
    /// `NotFound` or `InvalidLocator` when `path` leads to no directory; `InvalidState` when `state` lies in it,
    /// where it would be part of the workspace; `PermissionDenied`, `NoSpace`, `Provider`.
    pub fn open(path: impl AsRef<Path>, state: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Self::open_with_clock(path, state, Arc::new(SystemClock))
    }

    /// As [`open`](Self::open), with another clock.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_clock(
        path: impl AsRef<Path>,
        state: impl AsRef<Path>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, WorkspaceError> {
        let place = Place::find(path.as_ref())?;
        let state = state_folder(state.as_ref(), &place)?;
        Ok(Self {
            shared: Arc::new(Shared {
                id: WorkspaceBackendId::new("local-directory").expect("a literal that is an id"),
                records: Records::open(&state)?,
                lock_dir: state.join("locks"),
                place,
                clock,
            }),
        })
    }

    /// The directory's canonical path.
    pub fn path(&self) -> &Path {
        &self.shared.place.path
    }
}

/// Makes the state folder, unless it would lie in the directory itself.
fn state_folder(state: &Path, place: &Place) -> Result<PathBuf, WorkspaceError> {
    let failed = |error| WorkspaceError::io("make the state folder", state, error);
    let absolute = std::path::absolute(state).map_err(failed)?;
    let inside = |path: &Path| {
        path.starts_with(&place.path)
            .then(|| WorkspaceError::InvalidState {
                path: path.to_owned(),
                reason: format!("it lies in {}, whose files it would be among", place.text),
            })
    };
    // Nothing may be made before it is known where the links on the way lead.
    let nearest = absolute.ancestors().find(|path| path.exists());
    let found = nearest.map(Place::find).transpose()?;
    let led_inside = found.as_ref().and_then(|found| inside(&found.path));
    if let Some(error) = inside(&absolute).or(led_inside) {
        return Err(error);
    }
    std::fs::create_dir_all(&absolute).map_err(failed)?;
    Ok(Place::find(&absolute)?.path)
}

impl Shared {
    fn descriptor(&self) -> WorkspaceDescriptor {
        WorkspaceDescriptor {
            id: self.place.workspace_id(),
            name: self.place.name(),
            backend: self.id.clone(),
            locator: self.place.text.clone(),
        }
    }

    fn check_workspace(&self, id: &WorkspaceId) -> Result<(), WorkspaceError> {
        if *id == self.place.workspace_id() {
            Ok(())
        } else {
            Err(WorkspaceError::WorkspaceNotFound {
                workspace: id.clone(),
            })
        }
    }

    /// The record of a head, which must be the directory's own.
    pub(super) async fn record(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<Record, WorkspaceError> {
        let own = *workspace == self.place.workspace_id() && *head == self.place.head_id();
        let record = if own {
            self.records.get(head).await?
        } else {
            None
        };
        record.ok_or_else(|| WorkspaceError::HeadNotFound { head: head.clone() })
    }

    fn head_descriptor(&self, record: &Record) -> WorkspaceHeadDescriptor {
        let name = WorkspaceHeadName::new(self.place.name());
        let name = name.or_else(|_| WorkspaceHeadName::new("directory"));
        WorkspaceHeadDescriptor {
            id: self.place.head_id(),
            name: name.expect("a literal that is a name"),
            workspace_id: self.place.workspace_id(),
            base: String::new(),
            branch: None,
            access: WorkspaceHeadAccess::Shared,
            state: if record.archived {
                WorkspaceHeadState::Archived
            } else {
                WorkspaceHeadState::Ready
            },
            created_at: record.created_at,
            forked_from: None,
        }
    }

    /// Proves that the directory is still the one that was opened.
    pub(super) async fn verify(self: &Arc<Self>) -> Result<(), WorkspaceError> {
        let this = Arc::clone(self);
        let present = blocking(move || Ok(this.place.present())).await?;
        let reason = match present {
            Some(identity) if identity.is_same(&self.place.identity) => return Ok(()),
            Some(_) => format!("{} is another directory now", self.place.text),
            None => format!("{} is no directory any more", self.place.text),
        };
        Err(WorkspaceError::HeadUnavailable {
            head: self.place.head_id(),
            reason,
        })
    }

    async fn resource(self: &Arc<Self>, record: &Record) -> Result<DirectoryHead, WorkspaceError> {
        let this = Arc::clone(self);
        let opened = blocking(move || {
            DiskFileSystem::open(&this.place.path, DiskOptions::new(&this.lock_dir))
        });
        let files = opened.await;
        // In this order, what was opened is what is proved.
        self.verify().await?;
        let descriptor = self.head_descriptor(record);
        Ok(DirectoryHead::new(Arc::clone(self), descriptor, files?))
    }
}

#[async_trait]
impl WorkspaceBackend for DirectoryWorkspaceBackend {
    fn id(&self) -> &WorkspaceBackendId {
        &self.shared.id
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn open_workspace(&self, locator: &str) -> Result<WorkspaceDescriptor, WorkspaceError> {
        let path = PathBuf::from(locator);
        // Errors of the host pass through a layer that knows only file systems, so they are kept whole here.
        let found = blocking(move || Ok(Place::find(&path))).await??;
        if found.path != self.shared.place.path {
            return Err(WorkspaceError::InvalidLocator {
                locator: locator.to_owned(),
                reason: format!("this backend is for {} alone", self.shared.place.text),
            });
        }
        Ok(self.shared.descriptor())
    }

    async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceDescriptor, WorkspaceError> {
        self.shared.check_workspace(id)?;
        Ok(self.shared.descriptor())
    }

    /// Gives the directory's one head, whatever its name in the request: it is always named as the directory.
    async fn create_head(
        &self,
        request: WorkspaceHeadRequest,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        self.shared.check_workspace(&request.workspace_id)?;
        let unsupported = |operation| WorkspaceError::Unsupported {
            backend: self.shared.id.clone(),
            operation,
        };
        if request.access == WorkspaceHeadAccess::Isolated {
            return Err(unsupported(
                "make an isolated head: the directory is shared; ask for a shared one",
            ));
        }
        if request.revision.is_some() {
            return Err(unsupported("make a head from a revision"));
        }
        let (head, now) = (self.shared.place.head_id(), self.shared.clock.now());
        self.shared.verify().await?;
        let record = self.shared.records.get_or_create(&head, now).await?;
        if record.archived {
            return Err(WorkspaceError::HeadArchived { head });
        }
        Ok(Arc::new(self.shared.resource(&record).await?))
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
        resource::check_binding(binding, &self.shared.place)?;
        // The binding proves all but the archive's record, so a lost state folder does not lose the head.
        let now = self.shared.clock.now();
        let records = &self.shared.records;
        let record = records.get_or_create(&binding.head_id, now).await?;
        if record.archived {
            return Err(WorkspaceError::HeadArchived {
                head: binding.head_id.clone(),
            });
        }
        Ok(Arc::new(self.shared.resource(&record).await?))
    }

    async fn heads(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError> {
        self.shared.check_workspace(workspace)?;
        let record = self
            .shared
            .records
            .get(&self.shared.place.head_id())
            .await?;
        Ok(record
            .iter()
            .map(|record| self.shared.head_descriptor(record))
            .collect())
    }

    async fn binding(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<WorkspaceBinding, WorkspaceError> {
        self.shared.record(workspace, head).await?;
        Ok(resource::binding(&self.shared.id, &self.shared.place))
    }

    async fn unarchive_head(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<(), WorkspaceError> {
        self.shared.record(workspace, head).await?;
        self.shared.records.set_archived(head, false).await
    }
}
