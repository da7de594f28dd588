//! What can go wrong in this backend.

use std::io;
use std::path::{Path, PathBuf};

use everruns_core::failpoint::FailpointError;
use everruns_core::workspace::is_too_many_open_files;

/// A failure of the Git backend, before it is told in the words of the core.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// Nothing is at the path that should hold a repository.
    #[error("there is nothing at {}", path.display())]
    PathMissing {
        /// The path asked for.
        path: PathBuf,
    },
    /// The path exists, but no repository holds it.
    #[error("{} is not in a Git repository", path.display())]
    NotARepository {
        /// The path asked for.
        path: PathBuf,
    },
    /// The repository has no commit to start a head from.
    #[error("the repository {} has no commits yet", path.display())]
    EmptyRepository {
        /// The repository's common directory.
        path: PathBuf,
    },
    /// The repository uses something that this backend can't serve.
    #[error("the repository {} can't be used: {reason}", path.display())]
    Unsupported {
        /// The repository's common directory.
        path: PathBuf,
        /// What it uses.
        reason: &'static str,
    },
    /// The index names an object that the repository doesn't have.
    #[error(
        "the object {id}, which the index names at {path:?}, is missing from the repository: `git fsck` says what else is, \
         and `git add {path}` stores the file again"
    )]
    ObjectMissing {
        /// The object's id.
        id: String,
        /// Where the index has it.
        path: String,
    },
    /// The text isn't the name of a single commit.
    #[error("{revision:?} is not a revision: {reason}")]
    InvalidRevision {
        /// The text, shortened for display.
        revision: String,
        /// Why it is refused.
        reason: &'static str,
    },
    /// The revision is well formed, but names nothing in this repository.
    #[error("the repository has no revision {revision:?}")]
    UnknownRevision {
        /// The text.
        revision: String,
    },
    /// The branch only stands for another one.
    #[error("{branch} is a symbolic reference to {target}; name that branch instead")]
    SymbolicBranch {
        /// The branch.
        branch: String,
        /// The full name of what it stands for.
        target: String,
    },
    /// The revision stands for a checkpoint with work that no commit holds.
    #[error("{revision:?} is a checkpoint of the head {head}")]
    IsCheckpoint {
        /// The revision.
        revision: String,
        /// The head, as the checkpoint says it.
        head: String,
    },
    /// Commits that stand for checkpoints would become part of a branch's history.
    #[error("the history of {from} that {into} lacks holds the checkpoint {commit}")]
    CheckpointInHistory {
        /// The branch with that history.
        from: String,
        /// The branch that it was to be brought into.
        into: String,
        /// The first such commit that was found.
        commit: String,
    },
    /// Another head of the workspace has this name.
    #[error("the workspace already has a head named {name:?}: {holder}")]
    NameTaken {
        /// The name.
        name: String,
        /// The head that has it.
        holder: String,
    },
    /// No such workspace is recorded here.
    #[error("no workspace {id} is recorded in this state folder")]
    WorkspaceUnknown {
        /// Its id.
        id: String,
    },
    /// No such head is recorded here.
    #[error("no head {id} is recorded in this state folder")]
    HeadUnknown {
        /// Its id.
        id: String,
    },
    /// The head is archived.
    #[error("the head {id} is archived")]
    HeadArchived {
        /// Its id.
        id: String,
    },
    /// The head was destroyed.
    #[error("the head {id} was destroyed; its work is in {kept}")]
    HeadDestroyed {
        /// Its id.
        id: String,
        /// The branch, or the ref, that keeps its work.
        kept: String,
    },
    /// Another session holds the isolated head.
    #[error("the head {id} is claimed by session {session}")]
    HeadClaimed {
        /// Its id.
        id: String,
        /// The session that holds it.
        session: String,
    },
    /// Another operation holds the lock for too long.
    #[error("{what} is locked by another operation")]
    Locked {
        /// What is locked.
        what: String,
    },
    /// The head's folder is gone.
    #[error("the head's folder {} is missing", path.display())]
    WorktreeMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The head's folder or its record in the repository isn't what was written at its creation.
    #[error("{} is not what this head's creation wrote: {what}", path.display())]
    Forged {
        /// The file that differs.
        path: PathBuf,
        /// How it differs.
        what: &'static str,
    },
    /// The head's folder holds work that no checkpoint can keep.
    #[error(
        "{} path(s) hold what no checkpoint can keep, such as repositories of their own or files that can't be read, {} \
         among them",
        paths.len(),
        paths.first().map_or("", String::as_str)
    )]
    HoldsOtherWork {
        /// The paths.
        paths: Vec<String>,
    },
    /// A turn runs on the head, or somebody destroys it.
    #[error(
        "a turn runs on the head {id}: close its session, which stops the turn, or wait for the end"
    )]
    HeadHeld {
        /// Its id.
        id: String,
    },
    /// Somebody uses the head right now.
    #[error("the head {id} is in use by another process or handle")]
    HeadInUse {
        /// Its id.
        id: String,
    },
    /// An operation on the head was cut short, and can be neither finished nor undone.
    #[error(
        "an operation on the head {id} was cut short, and can't be finished or undone: {source}"
    )]
    Unfinished {
        /// Its id.
        id: String,
        /// Why it can't.
        source: Box<Self>,
    },
    /// An operation failed in the middle, and so did its undoing.
    #[error("{source}; and what had been done to the head {id} can't be undone: {second}")]
    NotUndone {
        /// The head's id.
        id: String,
        /// Why it failed.
        source: Box<Self>,
        /// Why it can't be undone.
        second: Box<Self>,
    },
    /// The head's `HEAD` doesn't name the head's own branch.
    #[error("the head has {found} checked out instead of its branch {branch}")]
    BranchSwitched {
        /// The head's own branch.
        branch: String,
        /// What is checked out.
        found: String,
    },
    /// The checkpoint doesn't belong to the head or is gone.
    #[error("the head has no checkpoint {revision}")]
    CheckpointUnknown {
        /// The checkpoint's revision.
        revision: String,
    },
    /// Files that a restore must not touch are in its way.
    #[error("{} path(s) hold ignored or special files that are in the way, {} among them", paths.len(), paths.first().map_or("", String::as_str))]
    InTheWay {
        /// The paths.
        paths: Vec<String>,
    },
    /// The branch is checked out in another worktree.
    #[error("the branch {branch} is checked out in {}", worktree.display())]
    BranchCheckedOut {
        /// The branch.
        branch: String,
        /// Where it is checked out.
        worktree: PathBuf,
        /// Why it can't be moved there.
        reason: &'static str,
        /// The files that keep it from being moved.
        files: Vec<String>,
    },
    /// Nobody is configured in whose name a commit could be made.
    #[error("{missing} is not configured")]
    IdentityMissing {
        /// The settings that are missing.
        missing: String,
    },
    /// The text can't be a commit's message.
    #[error("the text is no commit message: {reason}")]
    InvalidMessage {
        /// Why not.
        reason: &'static str,
    },
    /// Everything is committed.
    #[error("there is nothing to commit")]
    NothingToCommit,
    /// Nothing is at the paths.
    #[error("nothing is at {} path(s), {} among them", paths.len(), paths.first().map_or("", String::as_str))]
    UnknownPaths {
        /// The paths.
        paths: Vec<String>,
    },
    /// Files are in conflict.
    #[error("{} path(s) are in conflict, {} among them", paths.len(), paths.first().map_or("", String::as_str))]
    InConflict {
        /// The paths.
        paths: Vec<String>,
    },
    /// Changes that no commit holds would be overwritten.
    #[error("changes in {} path(s) would be overwritten, {} among them", paths.len(), paths.first().map_or("", String::as_str))]
    LocalChanges {
        /// The paths.
        paths: Vec<String>,
    },
    /// Another operation of Git's is half done.
    #[error("a {operation} is under way")]
    UnderWay {
        /// The operation.
        operation: String,
    },
    /// What took the place of tracked files can be in no commit.
    #[error("{} path(s) hold what no commit can hold, {} among them", paths.len(), paths.first().map_or("", String::as_str))]
    NotStorable {
        /// The paths.
        paths: Vec<String>,
    },
    /// A reference isn't what it was a moment ago.
    #[error("the reference {name} was changed in the meantime")]
    ReferenceMoved {
        /// The reference.
        name: String,
    },
    /// A reference can't be made, because of the name of another.
    #[error("there can't be a reference {name} beside {by}")]
    ReferenceBlocked {
        /// The reference.
        name: String,
        /// The other one.
        by: String,
    },
    /// A filter that was allowed to run failed.
    #[error("the filter of {path} failed")]
    FilterFailed {
        /// The file.
        path: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The branch and the head have no commit in common.
    #[error("the branch {branch} shares no commit with the head")]
    UnrelatedHistories {
        /// The branch.
        branch: String,
    },
    /// The head holds nothing at all yet.
    #[error("the head {id} has neither commits nor files")]
    NothingToMerge {
        /// The head.
        id: String,
    },
    /// The branch has commits of its own, so it can't just move forward.
    #[error("the branch {branch} has commits of its own")]
    Diverged {
        /// The branch.
        branch: String,
    },
    /// The branch moved while it was about to be changed.
    #[error("the branch {branch} moved in the meantime")]
    BranchMoved {
        /// The branch.
        branch: String,
    },
    /// The state folder lies where it would become part of a user's files.
    #[error("the state folder {} lies inside {}", path.display(), inside.display())]
    StateInside {
        /// The state folder.
        path: PathBuf,
        /// The repository or head around it.
        inside: PathBuf,
    },
    /// A record was written by a newer version.
    #[error("{} has format {found}; this version reads up to {known}", path.display())]
    NewerRecord {
        /// The record.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest known format.
        known: u32,
    },
    /// A record can't be read as what it should be.
    #[error("{} is not a readable record", path.display())]
    CorruptRecord {
        /// The record.
        path: PathBuf,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// The binding isn't one of this backend's.
    #[error("the binding is not readable: {reason}")]
    CorruptBinding {
        /// What is wrong with it.
        reason: String,
    },
    /// The head's file system could not be opened.
    #[error(transparent)]
    FileSystem(#[from] everruns_core::file_system::FileSystemError),
    /// The file system refused a step.
    #[error("could not {step} {}", path.display())]
    Io {
        /// The step, as a verb.
        step: &'static str,
        /// The path concerned.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Git's data refused a step.
    #[error("could not {step}")]
    Git {
        /// The step, as a verb phrase.
        step: &'static str,
        /// The library's answer.
        #[source]
        source: Box<gix::Error>,
    },
    /// The Git library could not open one more file.
    #[error("could not {step} in {}: too many files are open", path.display())]
    TooManyOpenFiles {
        /// What was attempted.
        step: &'static str,
        /// The repository.
        path: PathBuf,
        /// The library's answer.
        #[source]
        source: Box<gix::Error>,
    },
    /// A failpoint of a test fired.
    #[error(transparent)]
    Failpoint(#[from] FailpointError),
    /// The worker thread of an operation panicked.
    #[error("a worker thread of the Git backend failed")]
    Worker,
}

impl GitError {
    /// This failure, after which undoing what had been done to the head `id` failed with `second`.
    pub(crate) fn not_undone(self, id: &str, second: Self) -> Self {
        Self::NotUndone {
            id: id.to_owned(),
            source: Box::new(self),
            second: Box::new(second),
        }
    }
}

impl GitError {
    /// Whether this process lacks the permission.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Whether the process itself lacks something, so that the failure says nothing of what was looked at.
    pub(crate) fn is_of_process(&self) -> bool {
        let Self::Io { source, .. } = self else {
            return matches!(self, Self::TooManyOpenFiles { .. });
        };
        let code = source
            .raw_os_error()
            .map(rustix::io::Errno::from_raw_os_error);
        matches!(
            code,
            Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE | rustix::io::Errno::NOMEM)
        )
    }

    /// Tells a system's refusal inside the Git library as one at `path`, the repository.
    pub(crate) fn at_repository(self, path: &Path) -> Self {
        let Self::Git { step, source } = self else {
            return self;
        };
        let path = path.to_owned();
        if refused(&source, |error| is_too_many_open_files(error).then_some(())).is_some() {
            return Self::TooManyOpenFiles { step, path, source };
        }
        let told = |error: &io::Error| Some(error.kind()).filter(|kind| is_told_apart(*kind));
        match refused(&source, told) {
            Some(kind) => Self::Io {
                step,
                path,
                source: io::Error::new(kind, *source),
            },
            None => Self::Git { step, source },
        }
    }
}

/// What `look` finds in the system's refusals that are somewhere in `error`.
fn refused<T>(error: &gix::Error, look: impl Fn(&io::Error) -> Option<T>) -> Option<T> {
    error.iter_errors().find_map(|error| {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<io::Error>().and_then(&look) {
                return Some(found);
            }
            next = error.source();
        }
        None
    })
}

/// Whether a caller is told of this refusal by a variant of its own.
fn is_told_apart(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(
        kind,
        PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull
    )
}

/// The crate's result.
pub(crate) type Result<T> = std::result::Result<T, GitError>;

/// Attaches the step and path to a failed system call.
pub(crate) trait IoStep<T> {
    /// Names the step that failed.
    fn step(self, step: &'static str, path: &Path) -> Result<T>;
}

impl<T, E: Into<io::Error>> IoStep<T> for std::result::Result<T, E> {
    fn step(self, step: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| GitError::Io {
            step,
            path: path.to_owned(),
            source: source.into(),
        })
    }
}

/// Attaches the step to a failure of the Git library.
pub(crate) trait GitStep<T> {
    /// Names the step that failed.
    fn git(self, step: &'static str) -> Result<T>;
}

impl<T, E: Into<gix::Error>> GitStep<T> for std::result::Result<T, E> {
    fn git(self, step: &'static str) -> Result<T> {
        self.map_err(|source| GitError::Git {
            step,
            source: Box::new(source.into()),
        })
    }
}
