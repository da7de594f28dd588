use serde::{Deserialize, Serialize};

use super::{Sequence, SessionCursor, SessionEvent, SessionRecord};
use crate::clock::Timestamp;
use crate::ids::{WorkspaceHeadId, WorkspaceId};

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

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionState {
    /// It has no head: it was never started, or was imported to be looked at.
    Unbound,
    /// It has a head, and nobody's lease runs at this time.
    Idle {
        /// The time.
        at: Timestamp,
    },
    /// Someone's lease runs at this time.
    Executing {
        /// The time.
        at: Timestamp,
    },
}

/// Which sessions to list, the most recently changed first. Those that fit all that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionQuery {
    /// Only those bound to heads of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// Only those bound to heads of this id.
    pub head: Option<WorkspaceHeadId>,
    /// Only those whose id starts with this text.
    pub id_prefix: Option<String>,
    /// Only those whose title holds this text; the letters A to Z count in either case.
    pub title: Option<String>,
    /// Only those whose agent has exactly this name.
    pub agent: Option<String>,
    /// Only those in this state.
    pub state: Option<SessionState>,
    /// Only those that changed at this time or later.
    pub updated_since: Option<Timestamp>,
    /// Continues where the page before ended: its `next`.
    pub after: Option<SessionCursor>,
    /// At most so many; 0 counts as 1.
    pub limit: u32,
}

impl Default for SessionQuery {
    fn default() -> Self {
        Self {
            workspace: None,
            head: None,
            id_prefix: None,
            title: None,
            agent: None,
            state: None,
            updated_since: None,
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
    pub next: Option<SessionCursor>,
}
