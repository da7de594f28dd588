//! This backend's records and errors in the words of the core.

use std::path::PathBuf;

use everruns_core::clock::Timestamp;
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::workspace::{
    CommitReceipt, RestorePlan, RestoreStep, UncapturedEntry, WorkspaceCheckpoint,
    WorkspaceDescriptor, WorkspaceError, WorkspaceHeadAccess, WorkspaceHeadDescriptor,
    WorkspaceHeadName, WorkspaceHeadState,
};
use gix::bstr::ByteSlice as _;

use crate::checkpoint::Checkpoint;
use crate::commit::Committed;
use crate::error::{GitError, Result};
use crate::head::Handle;
use crate::head::Planned;
use crate::names::path_text;
use crate::state::{HeadRecord, HeadState, WorkspaceRecord};

/// A text of a record that is no identifier or name any more.
fn unreadable(what: &str, text: &str) -> GitError {
    GitError::CorruptBinding {
        reason: format!("{text:?} is no {what}"),
    }
}

/// The head's identity.
pub(crate) fn head_id(text: &str) -> Result<WorkspaceHeadId> {
    WorkspaceHeadId::new(text).map_err(|_| unreadable("head id", text))
}

/// The workspace's identity.
pub(crate) fn workspace_id(text: &str) -> Result<WorkspaceId> {
    WorkspaceId::new(text).map_err(|_| unreadable("workspace id", text))
}

/// How many sessions the head serves.
pub(crate) fn access(record: &HeadRecord) -> WorkspaceHeadAccess {
    if record.shared {
        WorkspaceHeadAccess::Shared
    } else {
        WorkspaceHeadAccess::Isolated
    }
}

/// The head's description.
pub(crate) fn head(record: &HeadRecord) -> Result<WorkspaceHeadDescriptor> {
    let origin = record
        .origin
        .as_ref()
        .map(|origin| head_id(&origin.head))
        .transpose()?;
    Ok(WorkspaceHeadDescriptor {
        id: head_id(&record.id)?,
        name: WorkspaceHeadName::new(record.name.clone())
            .map_err(|_| unreadable("head name", &record.name))?,
        workspace_id: workspace_id(&record.workspace)?,
        base: record.base.clone(),
        branch: Some(record.branch.clone()),
        access: access(record),
        state: match record.state {
            HeadState::Ready => WorkspaceHeadState::Ready,
            HeadState::Archived => WorkspaceHeadState::Archived,
            HeadState::Destroyed => WorkspaceHeadState::Destroyed,
        },
        created_at: Timestamp::from_millis(record.created_at),
        forked_from: origin,
    })
}

/// The workspace's description.
pub(crate) fn workspace(
    record: &WorkspaceRecord,
    backend: &WorkspaceBackendId,
) -> Result<WorkspaceDescriptor> {
    let folder = match record.common_dir.file_name() {
        Some(name) if name == ".git" => record.common_dir.parent().unwrap_or(&record.common_dir),
        _ => &record.common_dir,
    };
    Ok(WorkspaceDescriptor {
        id: workspace_id(&record.id)?,
        name: record.name.clone(),
        backend: backend.clone(),
        locator: path_text(
            gix::path::into_bstr(folder)
                .map_or_else(
                    |_| folder.to_string_lossy().into_owned().into(),
                    std::borrow::Cow::into_owned,
                )
                .as_bstr(),
        ),
    })
}

/// The checkpoint's description.
pub(crate) fn checkpoint(checkpoint: &Checkpoint) -> Result<WorkspaceCheckpoint> {
    let uncaptured = checkpoint
        .state
        .manifest
        .uncaptured
        .iter()
        .map(|entry| UncapturedEntry {
            path: path_text(entry.path.as_bstr()),
            reason: entry.reason.clone(),
        });
    Ok(WorkspaceCheckpoint {
        head_id: head_id(&checkpoint.head)?,
        number: checkpoint.number,
        revision: checkpoint.id.to_string(),
        created_at: Timestamp::from_millis(checkpoint.at),
        label: checkpoint.label.clone(),
        uncommitted: checkpoint.uncommitted,
        location: (checkpoint.number > 0).then(|| checkpoint.reference()),
        changed_paths: checkpoint.changed,
        uncaptured: uncaptured.collect(),
    })
}

/// The plan of a restore.
pub(crate) fn plan(planned: &Planned) -> RestorePlan {
    let steps = planned.steps.iter().map(|step| RestoreStep {
        path: path_text(step.path.as_bstr()),
        removes: step.becomes.is_none(),
    });
    RestorePlan {
        steps: steps.collect(),
        blocked: planned.blocked.clone(),
        branch_to: planned.branch_to.map(|id| id.to_string()),
    }
}

/// Tells an error of an operation on the workspace `workspace` and, where it concerns one, the head `head`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Teller {
    /// The workspace's id, if one is concerned.
    pub(crate) workspace: Option<WorkspaceId>,
    /// The head's id, if one is concerned.
    pub(crate) head: Option<WorkspaceHeadId>,
    /// What was to be done.
    pub(crate) operation: &'static str,
}

impl Teller {
    /// Tells errors of `operation`.
    pub(crate) fn of(operation: &'static str) -> Self {
        Self {
            operation,
            ..Self::default()
        }
    }

    /// The head is `head`.
    pub(crate) fn on(mut self, head: &WorkspaceHeadId) -> Self {
        self.head = Some(head.clone());
        self
    }

    /// The workspace is `workspace`.
    pub(crate) fn within(mut self, workspace: &WorkspaceId) -> Self {
        self.workspace = Some(workspace.clone());
        self
    }

    /// `error` as the core has it.
    pub(crate) fn tell(&self, error: GitError) -> WorkspaceError {
        match error {
            GitError::PathMissing { path } => WorkspaceError::NotFound { path },
            GitError::NotARepository { path } => WorkspaceError::NotARepository { path },
            GitError::EmptyRepository { path } => WorkspaceError::EmptyRepository { path },
            GitError::Unsupported { path, reason } => WorkspaceError::UnsupportedRepository {
                path,
                reason: reason.to_owned(),
            },
            GitError::InvalidRevision { revision, reason } => WorkspaceError::UnknownRevision {
                revision,
                reason: reason.to_owned(),
            },
            GitError::UnknownRevision { revision } => WorkspaceError::UnknownRevision {
                revision,
                reason: "the repository has nothing of that name".to_owned(),
            },
            GitError::SymbolicBranch { branch, target } => WorkspaceError::UnknownRevision {
                revision: branch,
                reason: format!("it is a symbolic reference to {target}; name that branch instead"),
            },
            GitError::IsCheckpoint { revision, head } => {
                WorkspaceError::RevisionIsCheckpoint { revision, head }
            }
            GitError::CheckpointInHistory { from, into, commit } => {
                WorkspaceError::CheckpointInHistory { from, into, commit }
            }
            GitError::CheckpointUnknown { revision } => {
                WorkspaceError::CheckpointNotFound { revision }
            }
            GitError::StateInside { path, inside } => WorkspaceError::InvalidState {
                reason: format!("it lies inside the repository or head {}", inside.display()),
                path,
            },
            GitError::NewerRecord { ref path, .. } | GitError::CorruptRecord { ref path, .. } => {
                WorkspaceError::InvalidState {
                    path: path.clone(),
                    reason: error.to_string(),
                }
            }
            GitError::BranchCheckedOut {
                branch,
                worktree,
                reason,
                files,
            } => WorkspaceError::BranchInUse {
                branch,
                location: worktree,
                reason: reason.to_owned(),
                files,
            },
            GitError::Diverged { branch } => WorkspaceError::BranchDiverged { branch },
            GitError::UnrelatedHistories { branch } => {
                WorkspaceError::UnrelatedHistories { branch }
            }
            GitError::BranchMoved { branch } => WorkspaceError::BranchMoved { branch },
            GitError::IdentityMissing { missing } => WorkspaceError::IdentityMissing { missing },
            GitError::InvalidMessage { reason } => WorkspaceError::InvalidMessage { reason },
            GitError::WorkspaceUnknown { ref id } => match WorkspaceId::new(id.clone()) {
                Ok(workspace) => WorkspaceError::WorkspaceNotFound { workspace },
                Err(_) => self.backend(error),
            },
            GitError::Io { step, path, source } => WorkspaceError::io(step, path, source),
            GitError::TooManyOpenFiles {
                step: operation,
                path,
                source,
            } => WorkspaceError::TooManyOpenFiles {
                operation,
                path,
                source,
            },
            GitError::FileSystem(failure) => WorkspaceError::FileSystem(failure),
            GitError::Failpoint(failure) => WorkspaceError::Failpoint(failure),
            error => self.tell_of_head(error),
        }
    }

    fn tell_of_head(&self, error: GitError) -> WorkspaceError {
        let named = |id: &str| WorkspaceHeadId::new(id).ok();
        let here = self.head.clone();
        match (error, here) {
            (GitError::NameTaken { name, holder }, _) if named(&holder).is_some() => {
                let head = WorkspaceHeadId::new(holder).expect("the guard has just parsed it");
                WorkspaceError::NameTaken { name, head }
            }
            (GitError::HeadUnknown { id }, here) => match named(&id).or(here) {
                Some(head) => WorkspaceError::HeadNotFound { head },
                None => self.backend(GitError::HeadUnknown { id }),
            },
            (GitError::HeadArchived { .. }, Some(head)) => WorkspaceError::HeadArchived { head },
            (GitError::HeadDestroyed { kept, .. }, Some(head)) => WorkspaceError::HeadDestroyed {
                head,
                kept: Some(kept),
            },
            (GitError::HeadClaimed { id, session }, Some(head)) => {
                match SessionId::new(session.clone()) {
                    Ok(session) => WorkspaceError::HeadClaimed { head, session },
                    Err(_) => self.backend(GitError::HeadClaimed { id, session }),
                }
            }
            (
                error @ (GitError::HeadHeld { .. }
                | GitError::HeadInUse { .. }
                | GitError::Locked { .. }),
                Some(head),
            ) => WorkspaceError::HeadBusy {
                head,
                reason: error.to_string(),
            },
            (error @ (GitError::Unfinished { .. } | GitError::NotUndone { .. }), Some(head)) => {
                WorkspaceError::HeadUnfinished {
                    head,
                    source: error.into(),
                }
            }
            (GitError::NothingToCommit, Some(head)) => WorkspaceError::NothingToCommit { head },
            (GitError::FilterFailed { path, source }, Some(head)) => {
                WorkspaceError::FilterFailed { head, path, source }
            }
            (GitError::NothingToMerge { .. }, Some(head)) => {
                WorkspaceError::NothingToMerge { head }
            }
            (GitError::UnknownPaths { paths }, Some(head)) => {
                WorkspaceError::UnknownPaths { head, paths }
            }
            (GitError::InConflict { paths: files }, Some(head)) => {
                WorkspaceError::Conflicted { head, files }
            }
            (GitError::LocalChanges { paths: files }, Some(head)) => {
                WorkspaceError::LocalChanges { head, files }
            }
            (GitError::UnderWay { operation }, Some(head)) => {
                WorkspaceError::OperationInProgress { head, operation }
            }
            (GitError::NotStorable { paths: files }, Some(head)) => {
                WorkspaceError::NotStorable { head, files }
            }
            (GitError::CorruptBinding { reason }, Some(head)) => {
                WorkspaceError::BindingCorrupt { head, reason }
            }
            (
                error @ (GitError::WorktreeMissing { .. }
                | GitError::Forged { .. }
                | GitError::BranchSwitched { .. }
                | GitError::InTheWay { .. }
                | GitError::HoldsOtherWork { .. }),
                Some(head),
            ) => WorkspaceError::HeadUnavailable {
                head,
                reason: error.to_string(),
            },
            (error, _) => self.backend(error),
        }
    }

    fn backend(&self, error: GitError) -> WorkspaceError {
        WorkspaceError::backend(self.operation, error)
    }
}

/// A commit that was made.
pub(crate) fn commit(handle: &Handle, committed: &Committed) -> CommitReceipt {
    let uncaptured = committed.state.manifest.uncaptured.iter();
    CommitReceipt {
        revision: committed.id.to_string(),
        branch: handle.record.branch.clone(),
        changed: committed
            .changed
            .iter()
            .map(|path| path_text(path.as_bstr()))
            .collect(),
        uncaptured: uncaptured
            .map(|entry| UncapturedEntry {
                path: path_text(entry.path.as_bstr()),
                reason: entry.reason.clone(),
            })
            .collect(),
    }
}

/// The locator as a path.
pub(crate) fn locator(text: &str) -> std::result::Result<PathBuf, WorkspaceError> {
    let refuse = |reason: &str| {
        Err(WorkspaceError::InvalidLocator {
            locator: text.to_owned(),
            reason: reason.to_owned(),
        })
    };
    if text.is_empty() {
        return refuse("it is empty; give the path of a repository");
    }
    if text.contains('\0') {
        return refuse("it holds a NUL byte");
    }
    Ok(PathBuf::from(text))
}
