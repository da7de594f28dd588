use serde::{Deserialize, Serialize};

use super::{Sequence, SessionEvent, SessionRecord};
use crate::ids::{SessionId, WorkspaceId};

/// Which way to page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PageDirection {
    /// Oldest first.
    #[default]
    Forward,
    /// Newest first.
    Backward,
}

/// Which events to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventQuery {
    /// Forward: only events after this one. Backward: only events before it. The end to start from when `None`.
    pub from: Option<Sequence>,
    /// Which way.
    pub direction: PageDirection,
    /// At most so many; 0 counts as 1.
    pub limit: u32,
}

impl EventQuery {
    /// Up to `limit` events after `sequence`, oldest first.
    pub const fn after(sequence: Sequence, limit: u32) -> Self {
        Self {
            from: Some(sequence),
            direction: PageDirection::Forward,
            limit,
        }
    }

    /// The last `limit` events, newest first.
    pub const fn last(limit: u32) -> Self {
        Self {
            from: None,
            direction: PageDirection::Backward,
            limit,
        }
    }
}

/// Some events, in the direction asked for.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventPage {
    /// The events.
    pub events: Vec<SessionEvent>,
    /// Where to go on; `None` when there are no more.
    pub next: Option<Sequence>,
}

/// Which sessions to list, the most recently changed first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionQuery {
    /// Only those bound to heads of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// Only those whose id starts with this text.
    pub id_prefix: Option<String>,
    /// Continues after this session of the page before.
    pub after: Option<SessionId>,
    /// At most so many; 0 counts as 1.
    pub limit: u32,
}

impl Default for SessionQuery {
    fn default() -> Self {
        Self {
            workspace: None,
            id_prefix: None,
            after: None,
            limit: 100,
        }
    }
}

/// Some sessions.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionPage {
    /// The sessions, the most recently changed first.
    pub sessions: Vec<SessionRecord>,
    /// Where to go on; `None` when there are no more.
    pub next: Option<SessionId>,
}
