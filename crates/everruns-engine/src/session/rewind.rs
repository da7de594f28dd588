use std::sync::Arc;

use everruns_core::failpoint;
use everruns_core::session::{EventPayload, Sequence};
use everruns_core::workspace::{WorkspaceCheckpoint, WorkspaceError, WorkspaceHeadAccess};

use super::conversation::FileState;
use super::journal::{Journal, JournalState};
use super::{Active, SessionCore, SessionError, between, lease};

/// What going back did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewound {
    /// The event after which the conversation goes on.
    pub to: Sequence,
    /// The files before; `None` when none had to be brought back.
    pub before: Option<WorkspaceCheckpoint>,
}

/// Brings files and conversation back to a place between two turns.
pub(super) async fn rewind(
    core: &Arc<SessionCore>,
    active: Arc<Active>,
    to: Sequence,
) -> Result<Rewound, SessionError> {
    let journal = &core.journal;
    let mut state = between::hold(journal, &active).await?;
    let checkpoint = match state.conversation.files_at(to) {
        None => {
            return Err(SessionError::NotBetweenTurns {
                session: core.id.clone(),
                event: to,
            });
        }
        Some(FileState::Missed) => {
            return Err(SessionError::NoCheckpoint {
                session: core.id.clone(),
                event: to,
            });
        }
        Some(FileState::Unchanged) => None,
        Some(FileState::Kept(checkpoint)) => Some(WorkspaceCheckpoint::clone(&checkpoint)),
    };
    let head = active.environment.workspace_head();
    if checkpoint.is_some() && head.access() == WorkspaceHeadAccess::Shared {
        return Err(SessionError::SharedHead {
            head: head.id().clone(),
        });
    }
    let begun = EventPayload::RewindBegun {
        to,
        checkpoint: checkpoint.clone(),
    };
    journal.append(&mut state, vec![begun]).await?;
    failpoint::hit("engine.rewind.after-intent")?;
    let before = finish(journal, &active, &mut state, to, checkpoint).await?;
    Ok(Rewound { to, before })
}

/// Does what was begun, or does it again: bringing files back twice is the same as once.
pub(super) async fn finish(
    journal: &Journal,
    active: &Active,
    state: &mut JournalState,
    to: Sequence,
    checkpoint: Option<WorkspaceCheckpoint>,
) -> Result<Option<WorkspaceCheckpoint>, SessionError> {
    let mut before = None;
    if let Some(checkpoint) = checkpoint {
        let head = active.environment.workspace_head();
        match lease::while_renewed(journal, state, head.restore(&checkpoint)).await {
            Ok(receipt) => before = Some(receipt.before),
            Err(error @ WorkspaceError::Failpoint(_)) => {
                return Err(SessionError::from_workspace(error));
            }
            Err(error) => {
                let reason = error.to_string();
                let failed = EventPayload::RewindFailed { to, reason };
                journal.append(state, vec![failed]).await?;
                return Err(SessionError::Workspace(error));
            }
        }
    }
    failpoint::hit("engine.rewind.after-files")?;
    // Before the conversation has gone back: what was read since is not what is there now.
    active.seen.clear();
    let done = EventPayload::Rewound {
        to,
        before: before.clone(),
    };
    journal.append(state, vec![done]).await?;
    failpoint::hit("engine.rewind.after-record")?;
    Ok(before)
}
