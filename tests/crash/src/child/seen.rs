use std::io::Write as _;

use everruns::session::{Sequence, SessionEvent};
use everruns::{ArchiveReceipt, DestroyReceipt, SessionId, WorkspaceBinding};
use serde::{Deserialize, Serialize};

use crate::files::Files;

/// What a child has begun or seen acknowledged, a line each.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Seen {
    /// The session has started or was resumed.
    Active { session: SessionId },
    /// A message was taken.
    Sent { text: String },
    /// An event is recorded.
    Event(Box<SessionEvent>),
    /// A turn has ended.
    Turn { number: u64, success: bool },
    /// The files after this event, when a turn had ended or the session had gone back.
    Files { after: Sequence, files: Files },
    /// The turn of a process that had waited for the session has ended.
    Rival { number: u64 },
    /// Another process has taken the session over, and this one has stopped.
    Outdone,
    /// A session was made of this one.
    Forked { session: SessionId },
    /// The head's work was committed, or merged into a branch.
    Commit {
        revision: String,
        branch: String,
        files: Files,
    },
    /// A branch is to be brought into the head, which adds this file to those after this event.
    Updating {
        after: Sequence,
        path: String,
        text: String,
    },
    /// It is in the head.
    Updated,
    /// A branch is to be brought into the head, and adds a file that the head has committed otherwise.
    Clashing { branch: String },
    /// It is in conflict with the head.
    Clashed,
    /// It had been in the head before.
    Unclashed,
    /// The conflict in this file is to be resolved, or the head to go back to before.
    Resolving { path: String, by_commit: bool },
    /// That is done.
    Resolved,
    /// All checkpoints are to be forgotten, but the one at this reference.
    Pruning { latest: Option<String> },
    /// The references of those that are forgotten.
    Pruned { removed: Vec<String> },
    /// Another session has been made and has had a turn, and its head is to be archived.
    Retiring {
        session: SessionId,
        binding: Box<WorkspaceBinding>,
        files: Files,
    },
    /// Its head is archived.
    Archived(Box<ArchiveReceipt>),
    /// Another session has been made, has had a turn and is to be deleted.
    Condemned {
        session: SessionId,
        binding: Box<WorkspaceBinding>,
        files: Files,
    },
    /// It was deleted.
    Deleted { session: SessionId },
    /// Its head was destroyed.
    Destroyed(Box<DestroyReceipt>),
}

impl Seen {
    /// One call, so that a kill finds the line whole or not there.
    pub(super) fn tell(&self) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        std::io::stdout().lock().write_all(line.as_bytes())?;
        Ok(())
    }
}
