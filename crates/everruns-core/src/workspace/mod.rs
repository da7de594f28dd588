//! Workspaces, their heads, and the backends that keep them.
//!
//! A [`Workspace`] is a project's lineage. A [`WorkspaceHead`] is one stable, mutable view of it, kept by a
//! [`WorkspaceBackend`]. Only explicit calls remove anything: dropping a handle never does.

mod backend;
mod binding;
mod builder;
mod checkpoint;
mod commit;
mod descriptor;
mod diff;
mod diff_request;
mod doctor;
mod error;
mod handle;
mod head;
mod hold;
mod ignored;
mod merge;
mod name;
mod receipt;
mod request;
mod resource;
mod status;
mod update;

pub use backend::WorkspaceBackend;
pub use binding::{BindingError, BindingPayload, MAX_PAYLOAD_BYTES, WorkspaceBinding};
pub use builder::WorkspaceHeadBuilder;
pub use checkpoint::{UncapturedEntry, WorkspaceCheckpoint};
pub use commit::{CommitIdentity, CommitReceipt, CommitRequest};
pub use descriptor::{
    WorkspaceDescriptor, WorkspaceHeadAccess, WorkspaceHeadDescriptor, WorkspaceHeadState,
};
pub use diff::{DiffLine, DiffLineKind, FileChange, FileDiff, Hunk, WorkspaceDiff};
pub use diff_request::{DiffBase, DiffRequest, WorkspacePatch};
pub use doctor::{DoctorReport, Finding};
pub use error::{WorkspaceError, is_too_many_open_files};
pub use handle::Workspace;
pub use head::WorkspaceHead;
pub use hold::HeadHold;
pub use ignored::{IgnoredReport, IncludedFile, SkippedFile};
pub use merge::{ConflictSide, MergeConflict, MergeOutcome, MergeRequest, MergeStrategy};
pub use name::{MAX_HEAD_NAME_LENGTH, WorkspaceHeadName};
pub use receipt::{
    ArchiveReceipt, DestroyReceipt, PruneReceipt, RestorePlan, RestoreReceipt, RestoreStep,
};
pub use request::WorkspaceHeadRequest;
pub use resource::WorkspaceHeadResource;
pub use status::{DegradedFact, EntryState, StatusEntry, WorkspaceHeadStatus};
pub use update::{UpdateOutcome, UpdateRequest};
