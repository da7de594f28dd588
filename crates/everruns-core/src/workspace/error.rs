use std::path::PathBuf;

use super::BindingError;
use crate::BoxError;
use crate::failpoint::FailpointError;
use crate::file_system::FileSystemError;
use crate::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};

/// Why a workspace or head operation was refused or failed. Nothing is half done, but where
/// [`HeadUnfinished`](Self::HeadUnfinished) says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The locator is not in the backend's syntax.
    #[error("`{}` leads to no workspace: {reason}", locator.escape_debug())]
    InvalidLocator {
        /// The locator as given.
        locator: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing at that path.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The path lies in no Git repository.
    #[error("{} is not in a Git repository: run `git init` there, or give another path", path.display())]
    NotARepository {
        /// The path.
        path: PathBuf,
    },
    /// The repository has a property that is not supported.
    #[error("the repository {} is not supported: {reason}", path.display())]
    UnsupportedRepository {
        /// The repository.
        path: PathBuf,
        /// Which property.
        reason: String,
    },
    /// The repository has no commit yet.
    #[error("the repository {} has no commit yet, so no revision names one: create the head without a revision", path.display())]
    EmptyRepository {
        /// The repository.
        path: PathBuf,
    },
    /// No such revision, or not a text that names one.
    #[error("`{}` names no revision: {reason}", revision.chars().take(80).collect::<String>().escape_debug())]
    UnknownRevision {
        /// The text as given.
        revision: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A text that cannot name a head.
    #[error("`{}` cannot name a head: {reason}", name.chars().take(80).collect::<String>().escape_debug())]
    InvalidName {
        /// The text as given.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The workspace has a head of that name.
    #[error("there is a head named `{}` already ({head}): choose another name", name.escape_debug())]
    NameTaken {
        /// The name.
        name: String,
        /// The head that has it.
        head: WorkspaceHeadId,
    },
    /// The backend has not opened a workspace of this id.
    #[error("no workspace {workspace} is known here")]
    WorkspaceNotFound {
        /// The id.
        workspace: WorkspaceId,
    },
    /// The backend keeps no head of this id.
    #[error("no head {head} is known here")]
    HeadNotFound {
        /// The id.
        head: WorkspaceHeadId,
    },
    /// The head is archived.
    #[error("the head {head} is archived: its files are kept; reopen it explicitly to use it")]
    HeadArchived {
        /// The head.
        head: WorkspaceHeadId,
    },
    /// The head was destroyed.
    #[error(
        "the head {head} was destroyed{}",
        kept.as_ref().map_or_else(String::new, |kept| format!("; its work is kept in {kept}"))
    )]
    HeadDestroyed {
        /// The head.
        head: WorkspaceHeadId,
        /// Where its work is kept, such as a branch or ref.
        kept: Option<String>,
    },
    /// The head exists in the records, but what is on disk cannot be proved to be it.
    #[error("the head {head} cannot be used: {reason}")]
    HeadUnavailable {
        /// The head.
        head: WorkspaceHeadId,
        /// What was found.
        reason: String,
    },
    /// The isolated head belongs to another session.
    #[error(
        "the isolated head {head} belongs to session {session}: fork it, or make a shared head"
    )]
    HeadClaimed {
        /// The head.
        head: WorkspaceHeadId,
        /// The session that has it.
        session: SessionId,
    },
    /// Something is running on the head.
    #[error("the head {head} is busy: {reason}")]
    HeadBusy {
        /// The head.
        head: WorkspaceHeadId,
        /// What is running.
        reason: String,
    },
    /// An operation on the head was cut short, and can be neither finished nor undone: the one that failed just now, or an
    /// earlier one, of this process or another. No turn runs on it, and nothing is made of it, until that is made up for.
    #[error("the head {head} is half changed: {source}")]
    HeadUnfinished {
        /// The head.
        head: WorkspaceHeadId,
        /// Why.
        source: BoxError,
    },
    /// No such checkpoint.
    #[error("checkpoint {revision} is not kept in this workspace")]
    CheckpointNotFound {
        /// The checkpoint's revision.
        revision: String,
    },
    /// The branch is checked out where it cannot follow a change.
    #[error("the branch {branch} is checked out in {}: {reason}", location.display())]
    BranchInUse {
        /// The branch.
        branch: String,
        /// The worktree that has it.
        location: PathBuf,
        /// Why it cannot follow.
        reason: String,
        /// The files that keep it from following, bytes that are not UTF-8 escaped.
        files: Vec<String>,
    },
    /// The branch has commits of its own, so it cannot just move forward.
    #[error(
        "the branch {branch} has commits of its own: update the head from it first, or merge with a commit"
    )]
    BranchDiverged {
        /// The branch.
        branch: String,
    },
    /// A filter that the application allowed to run, such as Git LFS, failed for a file of the head.
    #[error("the filter of {path} in the head {head} failed")]
    FilterFailed {
        /// The head.
        head: WorkspaceHeadId,
        /// The file, bytes that are not UTF-8 escaped.
        path: String,
        /// What went wrong.
        #[source]
        source: BoxError,
    },
    /// The branch and the head have no commit in common, so nothing says what either side changed.
    #[error(
        "the branch {branch} and the head share no commit, as far as this repository's history goes: take the changes \
         over as a patch, or join the histories with `git merge --allow-unrelated-histories`; a shallow clone may lack \
         the commit that they share"
    )]
    UnrelatedHistories {
        /// The branch.
        branch: String,
    },
    /// The revision stands for a checkpoint with work that no commit holds, which a head made of it would take for committed.
    #[error(
        "{} is a checkpoint of the head {head}, and a head made of its commit would take the work in it for committed: \
         fork from the checkpoint instead",
        revision.escape_debug()
    )]
    RevisionIsCheckpoint {
        /// The revision as given.
        revision: String,
        /// The head that the checkpoint is of, as it says itself.
        head: String,
    },
    /// Commits that stand for checkpoints would become part of a branch's history.
    #[error(
        "the history of {from} holds {commit}, which stands for a checkpoint and is no work of anybody's, so it is not \
         brought into {into}: merge it squashed, or take that commit out of the history first"
    )]
    CheckpointInHistory {
        /// The branch with that history.
        from: String,
        /// The branch that it was to be brought into.
        into: String,
        /// The first such commit that was found.
        commit: String,
    },
    /// The head has neither commits nor files yet.
    #[error("the head {head} has neither commits nor files yet, so there is nothing to merge")]
    NothingToMerge {
        /// The head.
        head: WorkspaceHeadId,
    },
    /// The branch moved while it was about to be moved.
    #[error("the branch {branch} moved in the meantime: try again")]
    BranchMoved {
        /// The branch.
        branch: String,
    },
    /// Nobody is known in whose name a commit could be made.
    #[error(
        "no commit can be made: {missing} is not known; set it with `git config`, or give an author"
    )]
    IdentityMissing {
        /// The settings that are missing, such as `user.name`.
        missing: String,
    },
    /// A text that cannot be a commit's message.
    #[error("this is no commit message: {reason}")]
    InvalidMessage {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// What was to be committed is committed already.
    #[error("the head {head} has nothing to commit")]
    NothingToCommit {
        /// The head.
        head: WorkspaceHeadId,
    },
    /// Paths that name nothing in the head.
    #[error("the head {head} has nothing at {}", listed(paths))]
    UnknownPaths {
        /// The head.
        head: WorkspaceHeadId,
        /// The paths as given.
        paths: Vec<String>,
    },
    /// Files of the head are in conflict.
    #[error("files of the head {head} are in conflict: {}", listed(files))]
    Conflicted {
        /// The head.
        head: WorkspaceHeadId,
        /// The files, bytes that are not UTF-8 escaped.
        files: Vec<String>,
    },
    /// Changes in the head that are in no commit would be overwritten.
    #[error(
        "changes in the head {head} would be overwritten; commit them first: {}",
        listed(files)
    )]
    LocalChanges {
        /// The head.
        head: WorkspaceHeadId,
        /// The files, bytes that are not UTF-8 escaped.
        files: Vec<String>,
    },
    /// Another operation of Git's is half done in the head.
    #[error("a {operation} is under way in the head {head}: conclude or abort it first")]
    OperationInProgress {
        /// The head.
        head: WorkspaceHeadId,
        /// The operation.
        operation: String,
    },
    /// Files that no commit can hold took the place of files that a commit holds.
    #[error("files of the head {head} cannot be stored: {}", listed(files))]
    NotStorable {
        /// The head.
        head: WorkspaceHeadId,
        /// The files, bytes that are not UTF-8 escaped.
        files: Vec<String>,
    },
    /// A backend returned another workspace or head than the one asked for.
    #[error("asked for {expected}, but the backend returned {found}")]
    IdentityMismatch {
        /// What was asked for.
        expected: String,
        /// What came back.
        found: String,
    },
    /// A persisted binding does not fit its backend.
    #[error("the persisted binding of head {head} is corrupt: {reason}")]
    BindingCorrupt {
        /// The head it names.
        head: WorkspaceHeadId,
        /// What is wrong with it.
        reason: String,
    },
    /// A binding that must not be persisted.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// The backend's own state folder cannot be used.
    #[error("{} cannot be used as a state folder: {reason}", path.display())]
    InvalidState {
        /// The folder or file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The backend has no such operation.
    #[error("the backend {backend} cannot {operation}")]
    Unsupported {
        /// The backend.
        backend: WorkspaceBackendId,
        /// The operation.
        operation: &'static str,
    },
    /// The host does not allow it.
    #[error("no permission to {operation} {}", path.display())]
    PermissionDenied {
        /// What was to be done.
        operation: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The disk or quota is full.
    #[error("no space left to {operation} {}; nothing was lost", path.display())]
    NoSpace {
        /// What was to be done.
        operation: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The process, or the host, has as many files open as it may. Every open head holds one descriptor.
    #[error(
        "too many files are open to {operation} {}: drop heads and sessions that are not in use, or raise the limit \
         of open files (`ulimit -n`); nothing was lost",
        path.display()
    )]
    TooManyOpenFiles {
        /// What was to be done.
        operation: &'static str,
        /// Where.
        path: PathBuf,
        /// The error of the system or of what it was told to.
        source: BoxError,
    },
    /// A file operation failed.
    #[error(transparent)]
    FileSystem(#[from] FileSystemError),
    /// A test stopped the operation.
    #[error(transparent)]
    Failpoint(#[from] FailpointError),
    /// No backend of this id is registered. The name to come; [`ProviderUnavailable`](Self::ProviderUnavailable)
    /// is emitted until then.
    #[error("no backend `{id}` is registered")]
    BackendUnavailable {
        /// The backend.
        id: WorkspaceBackendId,
    },
    /// The backend failed. The name to come; [`Provider`](Self::Provider) is emitted until then.
    #[error("the backend could not {operation}: {source}")]
    Backend {
        /// What was to be done.
        operation: &'static str,
        /// Why it failed.
        source: BoxError,
    },
    /// No backend of this id is registered.
    #[error(
        "no workspace backend `{id}` is registered: register it with `AgentBuilder::workspace_backend`"
    )]
    ProviderUnavailable {
        /// The backend.
        id: WorkspaceBackendId,
    },
    /// The backend failed.
    #[error("the workspace backend could not {operation}: {source}")]
    Provider {
        /// What was to be done.
        operation: &'static str,
        /// Why it failed.
        source: BoxError,
    },
}

impl WorkspaceError {
    /// A failure of a backend for which there is no variant of its own.
    pub fn backend(operation: &'static str, source: impl Into<BoxError>) -> Self {
        Self::Provider {
            operation,
            source: source.into(),
        }
    }

    /// No backend of this id is registered.
    pub fn backend_unavailable(id: WorkspaceBackendId) -> Self {
        Self::ProviderUnavailable { id }
    }

    /// A failed host operation on `path`, sorted into permission, space, too many open files and the rest.
    pub fn io(operation: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        let path = path.into();
        if is_too_many_open_files(&source) {
            let source = source.into();
            return Self::TooManyOpenFiles {
                operation,
                path,
                source,
            };
        }
        match source.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Self::PermissionDenied {
                    operation,
                    path,
                    source,
                }
            }
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::NoSpace {
                operation,
                path,
                source,
            },
            _ => Self::backend(operation, format!("{}: {source}", path.display())),
        }
    }

    /// Whether the same call may succeed later without any change of the caller's.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::HeadBusy { .. } | Self::BranchMoved { .. } | Self::TooManyOpenFiles { .. } => {
                true
            }
            Self::FileSystem(error) => error.is_retryable(),
            _ => false,
        }
    }
}

/// Whether the process or the host may open no more files. The standard library has no kind for it; the numbers are those
/// of Linux and the BSDs.
pub fn is_too_many_open_files(error: &std::io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// The first few of `paths`, and how many more there are.
fn listed(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = paths
        .iter()
        .take(SHOWN)
        .map(|path| path.escape_debug().to_string())
        .collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
