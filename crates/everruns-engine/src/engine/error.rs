use everruns_core::BoxError;
use everruns_core::clock::Timestamp;
use everruns_core::failpoint::FailpointError;
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId};
use everruns_core::session::{LeaseOwner, StoreError};
use everruns_core::workspace::WorkspaceError;

use crate::session::SessionError;

/// Why a session was not resumed. Another head is never put in the place of the recorded one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The store has no such session.
    #[error("no session {session} is recorded here: check the id and the store")]
    NotFound {
        /// The session.
        session: SessionId,
    },
    /// The session's start ended before it had a head; it has executed nothing.
    #[error("session {session} was never bound to a head: it has done nothing; create another")]
    NotBound {
        /// The session.
        session: SessionId,
    },
    /// No agent is attached.
    #[error("session {session} has no agent here: call `Engine::attach(session_id, agent)` first")]
    AgentNotAttached {
        /// The session.
        session: SessionId,
    },
    /// The agent has no backend of the recorded id. The name to come;
    /// [`WorkspaceProviderUnavailable`](Self::WorkspaceProviderUnavailable) is emitted until then.
    #[error(
        "session {session} is on a head of the backend `{id}`, which its agent has not registered: \
         call `AgentBuilder::workspace_backend`"
    )]
    WorkspaceBackendUnavailable {
        /// The session.
        session: SessionId,
        /// The backend.
        id: WorkspaceBackendId,
    },
    /// The agent has no backend of the recorded id.
    #[error(
        "session {session} is on a head of the backend `{id}`, which its agent has not registered: \
         call `AgentBuilder::workspace_backend`"
    )]
    WorkspaceProviderUnavailable {
        /// The session.
        session: SessionId,
        /// The backend.
        id: WorkspaceBackendId,
    },
    /// The recorded head cannot be used: it is archived, destroyed, missing or not what was recorded.
    #[error("the head of session {session} cannot be reopened: {source}")]
    HeadUnavailable {
        /// The session.
        session: SessionId,
        /// Why not.
        source: WorkspaceError,
    },
    /// What is recorded of the head cannot be read.
    #[error("what is recorded of session {session} cannot be used: {source}")]
    BindingCorrupt {
        /// The session.
        session: SessionId,
        /// What is wrong with it.
        source: BoxError,
    },
    /// The backend returned another head than the recorded one.
    #[error("session {session} needs {expected}, but its backend returned {found}")]
    IdentityMismatch {
        /// The session.
        session: SessionId,
        /// What is recorded.
        expected: String,
        /// What came back.
        found: String,
    },
    /// The isolated head belongs to another session now.
    #[error("the head {head} of session {session} belongs to session {holder} now")]
    HeadClaimed {
        /// The session.
        session: SessionId,
        /// Its recorded head.
        head: WorkspaceHeadId,
        /// The session that has the head.
        holder: SessionId,
    },
    /// Someone else executes the session.
    #[error(
        "session {session} is being executed by {owner}: wait until it ends, or cancel it there"
    )]
    SessionBusy {
        /// The session.
        session: SessionId,
        /// Who.
        owner: LeaseOwner,
        /// When its lease ends unless it is renewed.
        expires_at: Timestamp,
    },
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Another step of resuming failed.
    #[error(transparent)]
    Session(SessionError),
    /// A test stopped the operation.
    #[error(transparent)]
    Failpoint(#[from] FailpointError),
}

impl ResumeError {
    /// The agent has no backend of the recorded id.
    pub(crate) fn backend_unavailable(session: SessionId, id: WorkspaceBackendId) -> Self {
        Self::WorkspaceProviderUnavailable { session, id }
    }

    pub(crate) fn from_store(session: &SessionId, error: StoreError) -> Self {
        match error {
            StoreError::NotFound { session } => Self::NotFound { session },
            StoreError::CorruptRecord { .. } => Self::BindingCorrupt {
                session: session.clone(),
                source: error.into(),
            },
            StoreError::Failpoint(error) => Self::Failpoint(error),
            other => Self::Store(other),
        }
    }

    pub(crate) fn from_workspace(session: &SessionId, error: WorkspaceError) -> Self {
        let session = session.clone();
        match error {
            WorkspaceError::BindingCorrupt { .. } | WorkspaceError::Binding(_) => {
                Self::BindingCorrupt {
                    session,
                    source: error.into(),
                }
            }
            WorkspaceError::IdentityMismatch { expected, found } => Self::IdentityMismatch {
                session,
                expected,
                found,
            },
            WorkspaceError::HeadClaimed {
                head,
                session: holder,
            } => Self::HeadClaimed {
                session,
                head,
                holder,
            },
            WorkspaceError::Failpoint(error) => Self::Failpoint(error),
            source => Self::HeadUnavailable { session, source },
        }
    }

    /// Whether the same call may succeed later without any change of the caller's.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::SessionBusy { .. } => true,
            Self::Store(error) => error.is_retryable(),
            Self::HeadUnavailable { source, .. } => source.is_retryable(),
            Self::Session(error) => error.is_retryable(),
            _ => false,
        }
    }
}

impl From<SessionError> for ResumeError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Busy {
                session,
                owner,
                expires_at,
            } => Self::SessionBusy {
                session,
                owner,
                expires_at,
            },
            SessionError::Store(error) => Self::Store(error),
            SessionError::Failpoint(error) => Self::Failpoint(error),
            other => Self::Session(other),
        }
    }
}
