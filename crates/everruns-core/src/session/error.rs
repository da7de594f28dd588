use std::path::PathBuf;

use super::{FencingToken, LeaseOwner, Sequence};
use crate::BoxError;
use crate::clock::Timestamp;
use crate::failpoint::FailpointError;
use crate::ids::{SessionId, WorkspaceHeadId};

/// Why a store refused or failed. Nothing has changed unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No such session.
    #[error("no session {session} is recorded here")]
    NotFound {
        /// The session.
        session: SessionId,
    },
    /// A session of this id is recorded already.
    #[error("a session {session} is recorded already")]
    AlreadyExists {
        /// The session.
        session: SessionId,
    },
    /// The session is bound to another head.
    #[error("session {session} is bound to head {head} already")]
    AlreadyBound {
        /// The session.
        session: SessionId,
        /// The head it is bound to.
        head: WorkspaceHeadId,
    },
    /// The isolated head is bound to another session.
    #[error(
        "the isolated head {head} is bound to session {session}: fork it, or make a shared head"
    )]
    HeadBound {
        /// The head.
        head: WorkspaceHeadId,
        /// The session that has it.
        session: SessionId,
    },
    /// Someone else executes the session.
    #[error(
        "session {session} is being executed by {owner}: wait until it ends, or cancel it there"
    )]
    LeaseHeld {
        /// The session.
        session: SessionId,
        /// Who.
        owner: LeaseOwner,
        /// When its lease ends unless it is renewed.
        expires_at: Timestamp,
    },
    /// Someone else has taken over the session.
    #[error("session {session} was taken over by another process: this one must stop")]
    Fenced {
        /// The session.
        session: SessionId,
        /// The token that was presented.
        presented: FencingToken,
    },
    /// Another event was appended meanwhile.
    #[error("session {session} has {actual} events, not {expected} as expected")]
    SequenceConflict {
        /// The session.
        session: SessionId,
        /// The last place that was expected.
        expected: Sequence,
        /// The last place there is.
        actual: Sequence,
    },
    /// What is stored of a session cannot be read.
    #[error("what is stored of session {session} is corrupt: {reason}")]
    CorruptRecord {
        /// The session.
        session: SessionId,
        /// What is wrong.
        reason: String,
    },
    /// The database was made by a newer version.
    #[error("{} has schema version {found}; this program knows up to {supported}: use a newer one", location.display())]
    NewerSchema {
        /// The database.
        location: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        supported: i64,
    },
    /// The file is no database, or is damaged. It was left as it is.
    #[error("{} is not a usable database: {reason}; it was left as it is", location.display())]
    CorruptDatabase {
        /// The database.
        location: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The database cannot be written.
    #[error("{} cannot be written: {reason}", location.display())]
    ReadOnly {
        /// The database.
        location: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file lies on another machine, where several processes would damage it.
    #[error(
        "{} lies on {kind}, a network file system, where SQLite cannot keep it safe: \
         choose a folder of this machine, or keep sessions in PostgreSQL",
        location.display()
    )]
    NetworkFileSystem {
        /// The database.
        location: PathBuf,
        /// The file system.
        kind: String,
    },
    /// A copy was to be made where something is.
    #[error("{} exists already: choose another name", location.display())]
    FileExists {
        /// What exists.
        location: PathBuf,
    },
    /// The database is open, and was to be replaced; the same call may succeed later.
    #[error("another process has {} open; nothing was changed", location.display())]
    InUse {
        /// The database.
        location: PathBuf,
    },
    /// A database was replaced, the one before has not got its name yet, and the replacement could not be undone. Both
    /// are kept; the next replacement of the database names the one before.
    #[error(
        "{} is the restored database already; the one before is whole, but could not be renamed: it is {}",
        location.display(),
        before.display()
    )]
    HalfReplaced {
        /// The restored database.
        location: PathBuf,
        /// Where the one before is.
        before: PathBuf,
        /// What failed.
        source: Box<Self>,
    },
    /// Others kept the database busy for too long; the same call may succeed later.
    #[error("the store is busy: {operation} was tried {attempts} times")]
    Busy {
        /// What was to be done.
        operation: &'static str,
        /// How often it was tried.
        attempts: u32,
    },
    /// The database could not be reached; the same call may succeed later.
    #[error("the store cannot be reached to {operation}: {source}")]
    Unavailable {
        /// What was to be done.
        operation: &'static str,
        /// Why not.
        source: BoxError,
    },
    /// The store failed.
    #[error("the store could not {operation}: {source}")]
    Failed {
        /// What was to be done.
        operation: &'static str,
        /// Why not.
        source: BoxError,
    },
    /// A test stopped the operation.
    #[error(transparent)]
    Failpoint(#[from] FailpointError),
}

impl StoreError {
    /// Whether the same call may succeed later without any change of the caller's.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::InUse { .. }
                | Self::Unavailable { .. }
                | Self::LeaseHeld { .. }
        )
    }
}
