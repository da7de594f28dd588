//! The backend.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    DoctorReport, WorkspaceBackend, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError,
    WorkspaceHeadAccess, WorkspaceHeadDescriptor, WorkspaceHeadRequest, WorkspaceHeadResource,
};

use super::resource::GitHead;
use super::{LocalGitWorkspaceBuilder, payload};
use crate::blocking::blocking;
use crate::checkpoint;
use crate::context::Context;
use crate::convert::{self, Teller};
use crate::doctor;
use crate::error::{GitError, Result};
use crate::head::{self, Handle, NewHead, Start};
use crate::repository;
use crate::state::{HeadRecord, HeadState, WorkspaceRecord};
use crate::trash;

/// The backend's id.
const ID: &str = "local-git";

/// Keeps heads as linked worktrees of local Git repositories.
///
/// Everything it needs to know is in one state folder, which several processes may share. It runs no program, neither
/// Git's nor a repository's.
#[derive(Debug, Clone)]
pub struct LocalGitWorkspace {
    id: WorkspaceBackendId,
    context: Arc<Context>,
}

impl LocalGitWorkspace {
    /// A backend with its state in the folder `state`, which is made if needed.
    ///
    /// # Errors
    /// As [`LocalGitWorkspaceBuilder::build`].
    pub fn new(state: impl AsRef<Path>) -> std::result::Result<Self, WorkspaceError> {
        Self::builder(state).build()
    }

    /// Choices for a backend with its state in the folder `state`.
    pub fn builder(state: impl AsRef<Path>) -> LocalGitWorkspaceBuilder {
        LocalGitWorkspaceBuilder::new(state.as_ref())
    }

    /// The state folder, absolute and free of links.
    pub fn state_folder(&self) -> &Path {
        self.context.layout.root()
    }

    /// Deletes what destroyed heads left, and returns when it is gone.
    ///
    /// A destruction has its folder deleted by a thread of this process, or else by the next one that opens this state.
    /// A process that is about to end can wait for it here.
    ///
    /// # Errors
    /// `PermissionDenied`, `Provider`.
    pub async fn empty_trash(&self) -> std::result::Result<(), WorkspaceError> {
        self.run(Teller::of("empty the trash"), |context| {
            trash::empty(&context.layout)
        })
        .await
    }

    /// The workspaces of which this state knows, whether or not their repositories are still there, in a stable order.
    /// Records that cannot be read are left out; [`doctor`](WorkspaceBackend::doctor) tells of them.
    ///
    /// # Errors
    /// `PermissionDenied`, `Provider`.
    pub async fn workspaces(
        &self,
    ) -> std::result::Result<Vec<WorkspaceDescriptor>, WorkspaceError> {
        let id = self.id.clone();
        self.run(Teller::of("list the workspaces"), move |context| {
            let known = WorkspaceRecord::all(&context.layout)?;
            known
                .iter()
                .map(|record| convert::workspace(record, &id))
                .collect()
        })
        .await
    }

    pub(super) fn over(context: Arc<Context>) -> Self {
        let id = WorkspaceBackendId::new(ID).expect("the constant is a valid id");
        Self { id, context }
    }

    /// Runs `work` where it may block, and tells its errors.
    async fn run<T: Send + 'static>(
        &self,
        teller: Teller,
        work: impl FnOnce(&Arc<Context>) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, WorkspaceError> {
        let context = Arc::clone(&self.context);
        blocking(move || work(&context))
            .await
            .map_err(|error| teller.tell(error))
    }

    fn resource(&self, handle: Handle) -> Result<Arc<dyn WorkspaceHeadResource>> {
        Ok(Arc::new(GitHead::open(self.id.clone(), handle)?))
    }
}

#[async_trait]
impl WorkspaceBackend for LocalGitWorkspace {
    fn id(&self) -> &WorkspaceBackendId {
        &self.id
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn open_workspace(
        &self,
        locator: &str,
    ) -> std::result::Result<WorkspaceDescriptor, WorkspaceError> {
        let path = convert::locator(locator)?;
        let id = self.id.clone();
        self.run(Teller::of("open the repository"), move |context| {
            let located = repository::locate(&path, &context.opener)?;
            let record = WorkspaceRecord {
                id: located.workspace,
                name: located.name,
                common_dir: located.common_dir,
            };
            context.layout.prepare(&record.id)?;
            record.save(&context.layout)?;
            convert::workspace(&record, &id)
        })
        .await
    }

    async fn workspace(
        &self,
        workspace: &WorkspaceId,
    ) -> std::result::Result<WorkspaceDescriptor, WorkspaceError> {
        let (id, wanted) = (self.id.clone(), workspace.to_string());
        self.run(
            Teller::of("find the workspace").within(workspace),
            move |context| {
                convert::workspace(&WorkspaceRecord::load(&context.layout, &wanted)?, &id)
            },
        )
        .await
    }

    async fn create_head(
        &self,
        request: WorkspaceHeadRequest,
    ) -> std::result::Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        let teller = Teller::of("create the head").within(&request.workspace_id);
        let backend = self.clone();
        self.run(teller, move |context| {
            let workspace = WorkspaceRecord::load(&context.layout, request.workspace_id.as_str())?;
            let repository = context.repository(&workspace)?;
            let start = match &request.revision {
                Some(revision) => {
                    let commit = repository::resolve(&repository, revision)?;
                    checkpoint::expect_no_checkpoint(&repository, revision, commit)?;
                    Start::Commit(commit)
                }
                None => {
                    repository::default_start(&repository)?.map_or(Start::Nothing, Start::Commit)
                }
            };
            let opened_in = request.locator.as_deref();
            let opened_in = opened_in.and_then(|locator| {
                // It was good when the workspace was opened; what comes along from there is a favour.
                let located = repository::locate(Path::new(locator), &context.opener).ok()?;
                (located.workspace == workspace.id).then_some(located.git_dir)
            });
            let revision = request.revision.unwrap_or_else(|| "HEAD".to_owned());
            let new = NewHead {
                name: request.name.as_str().to_owned(),
                slug: request.name.slug(),
                shared: request.access == WorkspaceHeadAccess::Shared,
                start,
                revision,
                origin: None,
                opened_in,
                include_ignored: request.include_ignored,
            };
            let record = head::create(context, &workspace, new)?;
            backend.resource(Handle {
                context: Arc::clone(context),
                workspace,
                record,
            })
        })
        .await
    }

    async fn reopen_head(
        &self,
        binding: &WorkspaceBinding,
    ) -> std::result::Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        if binding.provider_id != self.id {
            return Err(WorkspaceError::BindingCorrupt {
                head: binding.head_id.clone(),
                reason: format!("it is of the backend {}", binding.provider_id),
            });
        }
        let teller = Teller::of("reopen the head")
            .within(&binding.workspace_id)
            .on(&binding.head_id);
        let (backend, binding) = (self.clone(), binding.clone());
        self.run(teller, move |context| {
            let (workspace, head) = (binding.workspace_id.as_str(), binding.head_id.as_str());
            let (workspace, record) =
                context.head(workspace, head).map_err(|error| match error {
                    // To who holds a binding, a workspace that nobody knows is a head that isn't there.
                    GitError::WorkspaceUnknown { .. } => GitError::HeadUnknown {
                        id: head.to_owned(),
                    },
                    error => error,
                })?;
            let mut handle = Handle {
                context: Arc::clone(context),
                workspace,
                record,
            };
            // Whoever reopens a head sees it before or after an operation under way, not in the middle.
            let _lock = handle.lock_to_look()?;
            handle.record = handle.reload()?;
            payload::check(&binding, &handle.record)?;
            if handle.record.state == HeadState::Archived {
                return Err(GitError::HeadArchived {
                    id: handle.record.id,
                });
            }
            handle.open()?;
            backend.resource(handle)
        })
        .await
    }

    async fn heads(
        &self,
        workspace: &WorkspaceId,
    ) -> std::result::Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError> {
        let wanted = workspace.to_string();
        self.run(
            Teller::of("list the heads").within(workspace),
            move |context| {
                let workspace = WorkspaceRecord::load(&context.layout, &wanted)?;
                HeadRecord::all(&context.layout, &workspace.id)?
                    .iter()
                    .map(convert::head)
                    .collect()
            },
        )
        .await
    }

    async fn binding(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> std::result::Result<WorkspaceBinding, WorkspaceError> {
        let teller = Teller::of("find the head").within(workspace).on(head);
        let (workspace, head) = (workspace.to_string(), head.to_string());
        let record = self
            .run(teller, move |context| {
                Ok(context.head(&workspace, &head)?.1)
            })
            .await?;
        payload::binding(&record, &self.id)
    }

    async fn unarchive_head(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> std::result::Result<(), WorkspaceError> {
        let teller = Teller::of("unarchive the head").within(workspace).on(head);
        let (workspace, head) = (workspace.to_string(), head.to_string());
        self.run(teller, move |context| {
            let (workspace, record) = context.head(&workspace, &head)?;
            let handle = Handle {
                context: Arc::clone(context),
                workspace,
                record,
            };
            head::unarchive(&handle).map(drop)
        })
        .await
    }

    async fn doctor(&self, repair: bool) -> std::result::Result<DoctorReport, WorkspaceError> {
        self.run(Teller::of("examine the state folder"), move |context| {
            doctor::examine(context, repair)
        })
        .await
    }
}
