use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::environment::EnvironmentError;
use everruns_core::failpoint::FailpointError;
use everruns_core::file_system::FileSystemError;
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId};
use everruns_core::session::{LeaseOwner, Sequence, StoreError};
use everruns_core::workspace::WorkspaceError;

use crate::engine::ResumeError;

/// Why a session cannot have the environment that was chosen for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionEnvironmentError {
    /// The head's backend is not the agent's backend of that id. The name to come;
    /// [`ProviderConflict`](Self::ProviderConflict) is emitted until then.
    #[error(
        "the head is kept by another backend `{id}` than the one registered with the agent: \
         use one object for both"
    )]
    BackendConflict {
        /// The id that both have.
        id: WorkspaceBackendId,
    },
    /// The head's backend is not the agent's backend of that id.
    #[error(
        "the head is kept by another backend `{id}` than the one registered with the agent: \
         use one object for both"
    )]
    ProviderConflict {
        /// The id that both have.
        id: WorkspaceBackendId,
    },
    /// The session has started, so that its environment is fixed.
    #[error("session {session} has started: its environment is fixed; create another session")]
    AlreadyStarted {
        /// The session.
        session: SessionId,
    },
    /// The store knows the isolated head as bound to another session.
    #[error(
        "the isolated head {head} is bound to session {session}: \
         fork it, make a shared head, or resume that session"
    )]
    HeadBound {
        /// The head.
        head: WorkspaceHeadId,
        /// The session that has it.
        session: SessionId,
    },
    /// The head itself records that it belongs to another session, perhaps one of another store.
    #[error(
        "the isolated head {head} belongs to session {session}: \
         fork it, make a shared head, or resume that session"
    )]
    HeadClaimed {
        /// The head.
        head: WorkspaceHeadId,
        /// The session that has it.
        session: SessionId,
    },
    /// The environment could not be built.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

impl SessionEnvironmentError {
    /// The head's backend is not the agent's backend of that id.
    pub(crate) fn backend_conflict(id: WorkspaceBackendId) -> Self {
        Self::ProviderConflict { id }
    }
}

/// Why a session refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The session cannot have the environment chosen for it. Nothing of the session is left in the store.
    #[error(transparent)]
    Environment(#[from] SessionEnvironmentError),
    /// A head could not be made or used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A file operation of the session itself failed.
    #[error("could not {step}: {source}")]
    Files {
        /// What was to be done.
        step: &'static str,
        /// Why it failed.
        source: FileSystemError,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Someone else executes the session.
    #[error(
        "session {session} is being executed by {owner}: wait until it ends, or cancel it there"
    )]
    Busy {
        /// The session.
        session: SessionId,
        /// Who.
        owner: LeaseOwner,
        /// When its lease ends unless it is renewed.
        expires_at: Timestamp,
    },
    /// Another process has taken the session over, or may have, since the lease could not be renewed in time; this one has
    /// stopped. What it did is recorded up to then.
    #[error(
        "session {session} was taken over by another process, or may have been; this one has stopped. \
         Send again to take it back once the other has finished"
    )]
    TakenOver {
        /// The session.
        session: SessionId,
    },
    /// A turn runs in this process.
    #[error("turn {turn} of session {session} is running: wait for its end, or cancel it")]
    TurnRunning {
        /// The session.
        session: SessionId,
        /// The turn.
        turn: u64,
    },
    /// The event is in the middle of a turn, or in a part of the record that was gone back from.
    #[error(
        "event {event} of session {session} is not between two turns of its conversation: \
         choose the event that ended a turn"
    )]
    NotBetweenTurns {
        /// The session.
        session: SessionId,
        /// The event.
        event: Sequence,
    },
    /// The files of that place were not kept.
    #[error(
        "the files of session {session} at event {event} were not kept: \
         the head cannot keep states, or the agent's checkpoints are off"
    )]
    NoCheckpoint {
        /// The session.
        session: SessionId,
        /// The event.
        event: Sequence,
    },
    /// Other sessions work on the head, too.
    #[error(
        "head {head} is shared: its files are not one session's to take back; fork the session"
    )]
    SharedHead {
        /// The head.
        head: WorkspaceHeadId,
    },
    /// The fork was made, and is not open here.
    #[error("session {session} was made, but cannot be opened yet: {source}; resume it")]
    ForkNotResumed {
        /// The new session.
        session: SessionId,
        /// Why not.
        source: Box<ResumeError>,
    },
    /// The message is empty.
    #[error("the message is empty: say what is to be done")]
    EmptyMessage,
    /// The turn could not be recorded to its end. The session is repaired before its next turn.
    #[error("the turn was broken off: {source}")]
    TurnAborted {
        /// Why.
        source: Arc<Self>,
    },
    /// The task of the turn or of the start was stopped from outside, as a runtime does when it shuts down.
    #[error("the task was stopped before it ended; resume the session to go on")]
    Stopped,
    /// A test stopped the operation.
    #[error(transparent)]
    Failpoint(#[from] FailpointError),
}

impl SessionError {
    /// Whether the same call may succeed later without any change of the caller's.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Store(error) => error.is_retryable(),
            Self::Workspace(error) => error.is_retryable(),
            Self::Files { source, .. } => source.is_retryable(),
            Self::Busy { .. } | Self::TakenOver { .. } | Self::TurnRunning { .. } => true,
            Self::TurnAborted { source } => source.is_retryable(),
            _ => false,
        }
    }

    /// Sorts the errors of a store that have a meaning of their own for a session.
    pub(crate) fn from_store(error: StoreError) -> Self {
        match error {
            StoreError::LeaseHeld {
                session,
                owner,
                expires_at,
            } => Self::Busy {
                session,
                owner,
                expires_at,
            },
            StoreError::Fenced { session, .. } => Self::TakenOver { session },
            StoreError::HeadBound { head, session } => {
                SessionEnvironmentError::HeadBound { head, session }.into()
            }
            StoreError::Failpoint(error) => Self::Failpoint(error),
            other => Self::Store(other),
        }
    }

    /// Sorts the errors of a backend that have a meaning of their own for a session.
    pub(crate) fn from_workspace(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::HeadClaimed { head, session } => {
                SessionEnvironmentError::HeadClaimed { head, session }.into()
            }
            WorkspaceError::Failpoint(error) => Self::Failpoint(error),
            other => Self::Workspace(other),
        }
    }
}
