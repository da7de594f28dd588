use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::{
    ArchiveReceipt, CommitReceipt, CommitRequest, DestroyReceipt, DiffBase, DiffRequest, HeadHold,
    IgnoredReport, MergeOutcome, MergeRequest, PruneReceipt, RestorePlan, RestoreReceipt,
    UpdateOutcome, UpdateRequest, WorkspaceBinding, WorkspaceCheckpoint, WorkspaceDiff,
    WorkspaceError, WorkspaceHeadDescriptor, WorkspaceHeadName, WorkspaceHeadStatus,
    WorkspacePatch,
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

    /// Drops what is kept in memory for no other reason than that the next call is faster with it.
    ///
    /// Called when a session on the head has been idle for a while. Neither blocks nor fails, and may be called at any
    /// time: whatever is asked next has the same answer as without it. As provided, it does nothing, which is for heads
    /// that keep nothing of the kind.
    fn drop_caches(&self) {}

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

    /// Keeps the head from being destroyed until what is returned is dropped: a turn of `session` is about to run.
    ///
    /// Any number may be held at once, and no claim is needed. [`destroy`](Self::destroy) is then refused through every
    /// handle, this one included, and through those of other processes where the backend serves several. So is what
    /// brings the head's files elsewhere while others may be half way there: [`restore`](Self::restore),
    /// [`update_from`](Self::update_from) and a merge into the head's branch, where these take several steps. One that
    /// is under way is waited for. As provided, it holds nothing, which is for backends that do nothing of the kind.
    ///
    /// # Errors
    /// `HeadDestroyed`; `HeadBusy` while the head is being destroyed, or its files are rewritten for too long;
    /// `HeadUnfinished` where its files are half changed; `Provider`.
    async fn hold(&self, session: &SessionId) -> Result<HeadHold, WorkspaceError> {
        let _ = session;
        Ok(HeadHold::nothing())
    }

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
    /// `CheckpointNotFound`; `HeadBusy` while a turn or another operation is at work there; `HeadUnfinished` when it
    /// failed in the middle and could not be undone, or one before it; `HeadUnavailable`, `HeadDestroyed`, `NoSpace`,
    /// `Provider`.
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
    /// `NameTaken`; `HeadBusy` while another operation is at work there; `HeadUnfinished` where an earlier one left the
    /// files half changed; `HeadUnavailable`, `HeadDestroyed`, `NoSpace`, `Provider`.
    async fn fork(
        &self,
        name: WorkspaceHeadName,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError>;

    /// Makes an isolated head `name` with the state that a checkpoint of this workspace holds: what was uncommitted then is
    /// uncommitted in it. Nothing of this head changes.
    ///
    /// Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `Unsupported`, `CheckpointNotFound`, and as [`fork`](Self::fork).
    async fn fork_from(
        &self,
        name: WorkspaceHeadName,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<Arc<dyn WorkspaceHeadResource>, WorkspaceError> {
        drop(name);
        let _ = checkpoint;
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "fork from a checkpoint",
        })
    }

    /// Merges the head's present state into a branch of its workspace.
    ///
    /// The present state includes what is not committed. Conflicts are an outcome, not an error, and change
    /// nothing. A branch that is checked out elsewhere is moved only if nothing has been changed there, and then
    /// its files follow.
    ///
    /// # Errors
    /// `UnknownRevision` for a branch that does not exist; `BranchInUse` when it is checked out where it cannot
    /// follow; `BranchDiverged`, `BranchMoved`; `CheckpointInHistory`; `IdentityMissing` when something has to be committed; `HeadBusy`
    /// while another operation is at work there; `HeadUnfinished` where an earlier one left the files half changed;
    /// `Unsupported`, `HeadUnavailable`, `HeadDestroyed`, `Provider`.
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
    /// `HeadBusy` while somebody [holds](Self::hold) it, because a turn runs on it; `HeadUnavailable`, `NoSpace`, `Provider`. On error the work is
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

    /// Commits the working state on the head's branch, untracked files included, ignored ones not.
    ///
    /// Atomic: the branch moves from the commit that the head was at, or nothing has changed. What was not asked
    /// for stays as it is, staged or not. No hook runs and nothing is signed. Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `IdentityMissing`, `InvalidMessage`, `NothingToCommit`, `UnknownPaths`, `Conflicted`, `OperationInProgress`,
    /// `NotStorable`, `BranchMoved`; `HeadBusy` while another operation is at work there; `HeadUnfinished` where an earlier
    /// one left the files half changed; `Unsupported`, `HeadUnavailable`, `HeadDestroyed`, `NoSpace`, `Provider`.
    async fn commit(&self, request: CommitRequest) -> Result<CommitReceipt, WorkspaceError> {
        drop(request);
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "commit",
        })
    }

    /// Brings a branch of the workspace into the head, its files included.
    ///
    /// Conflicts are an outcome and left in the files, as Git does it. Changes that are not committed stay, unless
    /// the branch would overwrite them: then nothing has changed. Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `UnknownRevision`, `CheckpointInHistory`, `LocalChanges`, `Conflicted`, `OperationInProgress`, `IdentityMissing`, `BranchMoved`;
    /// `HeadBusy` while a turn or another operation is at work there; `HeadUnfinished` when it failed in the middle and
    /// could not be undone, or one before it; `Unsupported`, `HeadUnavailable`, `HeadDestroyed`, `NoSpace`, `Provider`.
    async fn update_from(&self, request: UpdateRequest) -> Result<UpdateOutcome, WorkspaceError> {
        drop(request);
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "update a head from a branch",
        })
    }

    /// How any two states differ, in pages if asked for.
    ///
    /// Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `UnknownRevision`, and as [`diff`](Self::diff).
    async fn diff_range(&self, request: DiffRequest) -> Result<WorkspaceDiff, WorkspaceError> {
        drop(request);
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "compare any two states",
        })
    }

    /// The difference as a patch that `git apply` takes, byte for byte.
    ///
    /// Optional: the default is `Unsupported`.
    ///
    /// # Errors
    /// `UnknownRevision`, and as [`diff`](Self::diff).
    async fn patch(&self, request: DiffRequest) -> Result<WorkspacePatch, WorkspaceError> {
        drop(request);
        Err(WorkspaceError::Unsupported {
            backend: self.binding().provider_id,
            operation: "write a patch",
        })
    }
}
