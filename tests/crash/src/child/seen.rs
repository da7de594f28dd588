use std::io::Write as _;

use everruns::session::{Sequence, SessionEvent};
use everruns::{DestroyReceipt, SessionId, WorkspaceBinding};
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
    /// A session was made of this one.
    Forked { session: SessionId },
    /// The head's work was committed, or merged into a branch.
    Commit {
        revision: String,
        branch: String,
        files: Files,
    },
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
