use serde::{Deserialize, Serialize};

use super::Sequence;
use crate::clock::Timestamp;
use crate::ids::SessionId;
use crate::workspace::WorkspaceBinding;

/// What is kept of an agent: enough to tell which one it was, not to run it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentSummary {
    /// The agent's name.
    pub name: String,
    /// The provider's name.
    pub provider: String,
    /// The model's name.
    pub model: String,
}

/// A session to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// A title for people.
    pub title: Option<String>,
    /// The agent it runs.
    pub agent: AgentSummary,
    /// When it is recorded.
    pub created_at: Timestamp,
}

/// What is known of a session without its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionId,
    /// Its title for people.
    pub title: Option<String>,
    /// The agent it ran last.
    pub agent: AgentSummary,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When its last event was appended, or when it was recorded. It never goes back, whatever the clocks of those who
    /// append say.
    pub updated_at: Timestamp,
    /// The place of its last event.
    pub last_sequence: Sequence,
    /// Its head; `None` until it is bound.
    pub binding: Option<WorkspaceBinding>,
}
