use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::{
    DoctorReport, WorkspaceBinding, WorkspaceDescriptor, WorkspaceError, WorkspaceHeadDescriptor,
    WorkspaceHeadRequest, WorkspaceHeadResource,
};
use crate::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};

/// Keeps workspaces and their heads.
///
/// # What every backend guarantees
///
/// * A workspace has one id, whichever locator led to it; a head keeps its id for ever, and an id never comes
///   to mean other content.
/// * A head is never substituted: what cannot be proved to be the recorded head is an error.
/// * Head names are unique among the heads of a workspace that are not destroyed.
/// * Nothing is removed by dropping a handle or a future. A dropped `create_head` leaves a finished head or
///   none, at the latest when the backend is opened again.
/// * Bindings carry no credentials.
///
/// `everruns-testkit` has the conformance suite that every backend passes.
#[async_trait]
pub trait WorkspaceBackend: Send + Sync + Debug {
    /// The backend's name, the same in every process; bindings carry it.
    fn id(&self) -> &WorkspaceBackendId;

    /// Whether heads survive the end of this process.
    fn is_durable(&self) -> bool;

    /// Finds or makes the workspace that `locator` leads to; its syntax is the backend's own, such as a path.
    ///
    /// # Errors
    /// `InvalidLocator`, `NotFound`, `NotARepository`, `UnsupportedRepository`, `PermissionDenied`, `Provider`.
    async fn open_workspace(&self, locator: &str) -> Result<WorkspaceDescriptor, WorkspaceError>;

    /// The workspace of this id, when this backend has opened it before.
    ///
    /// # Errors
    /// `WorkspaceNotFound`, `Provider`.
    async fn workspace(&self, id: &WorkspaceId) -> Result<WorkspaceDescriptor, WorkspaceError>;

    /// Makes a head. Concurrent calls for different names all succeed; of two calls for one name, one does.
    ///
    /// # Errors
    /// `WorkspaceNotFound`, `NameTaken`, `UnknownRevision`, `RevisionIsCheckpoint`, `EmptyRepository` for a revision in a repository without
    /// commits, `PermissionDenied`, `NoSpace`, `Provider`. On error no head, and nothing of one, is left.
    async fn create_head(
        &self,
        request: WorkspaceHeadRequest,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError>;

    /// Opens exactly the head that `binding` names.
    ///
    /// # Errors
    /// `BindingCorrupt` when the payload does not fit; `HeadNotFound`, `HeadArchived`, `HeadDestroyed`,
    /// `HeadUnavailable`, `IdentityMismatch`, `Provider`.
    async fn reopen_head(
        &self,
        binding: &WorkspaceBinding,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError>;

    /// All heads of a workspace, archived and destroyed ones included, oldest first.
    ///
    /// # Errors
    /// `WorkspaceNotFound`, `Provider`.
    async fn heads(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<Vec<WorkspaceHeadDescriptor>, WorkspaceError>;

    /// The binding of a head that this backend keeps, whatever its state.
    ///
    /// # Errors
    /// `HeadNotFound`, `Provider`.
    async fn binding(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<WorkspaceBinding, WorkspaceError>;

    /// Makes an archived head usable again; a head that is not archived stays as it is.
    ///
    /// # Errors
    /// `HeadNotFound`, `HeadDestroyed`, `Provider`.
    async fn unarchive_head(
        &self,
        workspace: &WorkspaceId,
        head: &WorkspaceHeadId,
    ) -> Result<(), WorkspaceError>;

    /// Looks for leftovers of this backend, and with `repair` puts right what is provably its own and unused.
    ///
    /// Optional: a backend that leaves nothing behind keeps the default, which finds nothing. Without `repair`
    /// nothing is changed.
    ///
    /// # Errors
    /// `PermissionDenied`, `Provider`.
    async fn doctor(&self, repair: bool) -> Result<DoctorReport, WorkspaceError> {
        let _ = repair;
        Ok(DoctorReport::default())
    }
}
