//! Keeps the files of the head at places of the record.

use everruns_core::session::EventPayload;
use everruns_core::workspace::{WorkspaceError, WorkspaceHead, WorkspaceHeadAccess};

use super::OwnChanges;
use super::conversation::{Conversation, FileState};
use crate::agent::{Agent, CheckpointPolicy};

/// Whether the turn that runs, or ran last, may have changed files.
pub(crate) fn may_have_changed(agent: &Agent, conversation: &Conversation) -> bool {
    let tools = &agent.parts().tools;
    conversation.called().any(|tool| !tools.only_reads(tool))
}

/// What to record before the first change that the session makes; nothing when there is something on record.
pub(crate) async fn before_first_change(
    agent: &Agent,
    head: &WorkspaceHead,
    own: &OwnChanges,
    known: &FileState,
    turn: u64,
) -> Option<EventPayload> {
    match (agent.parts().checkpoints, known) {
        (CheckpointPolicy::Off, _) | (_, FileState::Kept(_) | FileState::Missed) => None,
        _ => take(head, own, known, turn).await,
    }
}

/// What to record at the end of a turn.
pub(crate) async fn at_end(
    agent: &Agent,
    head: &WorkspaceHead,
    own: &OwnChanges,
    known: &FileState,
    turn: u64,
    changed: bool,
) -> Option<EventPayload> {
    match agent.parts().checkpoints {
        CheckpointPolicy::EveryTurn => take(head, own, known, turn).await,
        CheckpointPolicy::OnChange | CheckpointPolicy::OwnChanges if changed => {
            take(head, own, known, turn).await
        }
        CheckpointPolicy::Off if changed => missed(known, turn, "the agent keeps no checkpoints"),
        _ => None,
    }
}

async fn take(
    head: &WorkspaceHead,
    own: &OwnChanges,
    known: &FileState,
    turn: u64,
) -> Option<EventPayload> {
    let label = format!("turn {turn}");
    // On a head with several sessions nobody knows what all of them did.
    let changes = own.take();
    let paths = match head.access() {
        WorkspaceHeadAccess::Isolated => changes.paths(),
        WorkspaceHeadAccess::Shared => None,
    };
    let taken = match paths {
        Some(paths) => head.checkpoint_paths(Some(&label), &paths).await,
        None => head.checkpoint_labelled(&label).await,
    };
    match taken {
        Ok(checkpoint) => {
            changes.kept();
            match known {
                FileState::Kept(last) if last.revision == checkpoint.revision => None,
                _ => Some(EventPayload::CheckpointTaken { turn, checkpoint }),
            }
        }
        Err(error) => {
            if !matches!(error, WorkspaceError::Unsupported { .. }) {
                tracing::warn!(head = %head.id(), turn, %error, "the files are not kept");
            }
            missed(known, turn, &error.to_string())
        }
    }
}

/// Said once, until there is a checkpoint again.
fn missed(known: &FileState, turn: u64, reason: &str) -> Option<EventPayload> {
    let reason = reason.to_owned();
    (*known != FileState::Missed).then_some(EventPayload::CheckpointMissed { turn, reason })
}
