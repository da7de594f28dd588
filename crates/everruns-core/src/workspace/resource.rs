use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::{
    ArchiveReceipt, DestroyReceipt, DiffBase, IgnoredReport, MergeOutcome, MergeRequest,
    PruneReceipt, RestorePlan, RestoreReceipt, WorkspaceBinding, WorkspaceCheckpoint,
    WorkspaceDiff, WorkspaceError, WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadStatus,
};
use crate::file_system::SessionFileSystem;
use crate::ids::SessionId;
use crate::path::WorkspacePath;

/// One open head, as its backend sees it.
///
/// Every method that touches files first proves that the head is still the recorded one
/// (`HeadUnavailable` otherwise). Dropping the future of any method leaves the state before or after it, at
/// the latest when the backend is opened again.
#[async_trait]
pub trait WorkspaceHeadResource: Send + Sync + Debug {
    /// What the head is. Its state is the one at the time of opening.
    fn descriptor(&self) -> &WorkspaceHeadDescriptor;

    /// What a store keeps to find this head again.
    fn binding(&self) -> WorkspaceBinding;

    /// The head's files. The handle stays usable after [`archive`](Self::archive).
    fn file_system(&self) -> Arc<dyn SessionFileSystem>;

    /// Claims the head for a session, durably and with the head, so that engines with different stores see it.
    ///
    /// Idempotent for one session. A shared head takes any number of sessions.
    ///
    /// # Errors
    /// `HeadClaimed` when an isolated head belongs to another session; `HeadArchived`, `HeadDestroyed`, `Provider`.
    async fn claim(&self, session: &SessionId) -> Result<(), WorkspaceError>;

    /// Gives up the claim of a session; without one, nothing happens.
    ///
    /// # Errors
    /// `Provider`.
    async fn release(&self, session: &SessionId) -> Result<(), WorkspaceError>;

    /// How the files differ from the last commit, as Git would say it where there is Git.
    ///
    /// # Errors
    /// `HeadUnavailable`, `HeadDestroyed`, `Provider`.
    async fn status(&self) -> Result<WorkspaceHeadStatus, WorkspaceError>;

    /// Keeps the present state, uncommitted and untracked files included, and changes nothing in the head.
    ///
    /// A state that is kept already gives the same revision again.
    ///
    /// # Errors
    /// `HeadUnavailable`, `HeadDestroyed`, `NoSpace`, `Provider`.
    async fn checkpoint(&self, label: Option<&str>) -> Result<WorkspaceCheckpoint, WorkspaceError>;

    /// The checkpoints that are kept, oldest first.
    ///
    /// # Errors
    /// `Provider`.
    async fn checkpoints(&self) -> Result<Vec<WorkspaceCheckpoint>, WorkspaceError>;

    /// Brings the files back to a checkpoint of this workspace, after keeping the present state as another.
    ///
    /// Only paths that differ are written; ignored files stay as they are.
    ///
    /// # Errors
    /// `CheckpointNotFound`, `HeadUnavailable`, `HeadDestroyed`, `NoSpace`, `Provider`.
    async fn restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError>;

    /// How the files differ from `base`, untracked files included.
    ///
    /// # Errors
    /// `CheckpointNotFound`, `HeadUnavailable`, `HeadDestroyed`, `Provider`.
    async fn diff(&self, base: DiffBase) -> Result<WorkspaceDiff, WorkspaceError>;

    /// Makes an isolated head `name` with the same files, uncommitted and untracked ones included.
    ///
    /// # Errors
    /// `NameTaken`, `HeadUnavailable`, `HeadDestroyed`, `NoSpace`, `Provider`.
    async fn fork(
        &self,
        name: WorkspaceHeadName,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError>;

    /// Merges the head's present state into a branch of its workspace.
    ///
    /// Conflicts are an outcome, not an error, and change nothing.
    ///
    /// # Errors
    /// `UnknownRevision` for a branch that does not exist; `BranchInUse` when it is checked out where it cannot
    /// follow; `Unsupported`; `HeadUnavailable`, `HeadDestroyed`, `Provider`.
    async fn merge_into(&self, request: MergeRequest) -> Result<MergeOutcome, WorkspaceError>;

    /// Blocks later reopening and keeps everything. Idempotent.
    ///
    /// # Errors
    /// `HeadDestroyed`, `Provider`.
    async fn archive(&self) -> Result<ArchiveReceipt, WorkspaceError>;

    /// Removes the head's files after keeping what no commit holds; the receipt says where. Idempotent: a
    /// destroyed head gives the same receipt again.
    ///
    /// # Errors
    /// `HeadBusy` when something is running on it; `HeadUnavailable`, `NoSpace`, `Provider`. On error the work is
    /// still there.
    async fn destroy(&self) -> Result<DestroyReceipt, WorkspaceError>;

    /// Keeps the present state like [`checkpoint`](Self::checkpoint), where the caller vouches that since the last
    /// checkpoint nothing but `paths` changed. A change elsewhere may be missing from the result.
    ///
    /// Optional: the default looks at everything.
    ///
    /// # Errors
    /// As [`checkpoint`](Self::checkpoint).
    async fn checkpoint_paths(
        &self,
        label: Option<&str>,
        paths: &[WorkspacePath],
    ) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        let _ = paths;
        self.checkpoint(label).await
    }

    /// Forgets all but the latest `keep` checkpoints. Those that a destroyed head's receipt names, and those that other
    /// heads were forked from, always stay.
    ///
    /// Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `Unsupported`, `Provider`.
    async fn prune_checkpoints(&self, keep: usize) -> Result<PruneReceipt, WorkspaceError> {
        let _ = keep;
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "prune checkpoints",
        })
    }

    /// What [`restore`](Self::restore) would do. Changes nothing.
    ///
    /// Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `Unsupported`, and as [`restore`](Self::restore).
    async fn plan_restore(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestorePlan, WorkspaceError> {
        let _ = checkpoint;
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "plan a restore",
        })
    }

    /// Which ignored files came along when the head was made.
    ///
    /// Optional: a backend that brings none along keeps the default, an empty report.
    ///
    /// # Errors
    /// `Provider`.
    async fn included_ignored(&self) -> Result<IgnoredReport, WorkspaceError> {
        Ok(IgnoredReport::default())
    }
}
