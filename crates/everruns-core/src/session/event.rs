use std::fmt;

use serde::{Deserialize, Serialize};

use super::AgentSummary;
use crate::clock::Timestamp;
use crate::model::{StopReason, ToolCall, Usage};

/// The place of an event in its session, counted from 1; 0 is before the first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Sequence(pub u64);

impl Sequence {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// The next place.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One event of a session, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEvent {
    /// Its place.
    pub sequence: Sequence,
    /// When it was appended.
    pub at: Timestamp,
    /// What happened.
    pub payload: EventPayload,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolOutcome {
    /// It did what it was to do.
    Succeeded,
    /// It refused or failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// The process ended before its outcome was recorded: it may or may not have taken effect.
    Unknown,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnOutcome {
    /// The model has said all.
    Completed,
    /// The limit of model requests for one turn was reached.
    LimitReached,
    /// Someone cancelled it.
    Cancelled,
    /// The model or the store failed.
    Failed {
        /// What failed, for people.
        reason: String,
    },
    /// The process ended in the middle; the record was closed on resume.
    Interrupted,
}

/// What happened in a session. The events are the truth; everything else is read from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventPayload {
    /// The session may execute from here on; its binding was durable before.
    SessionStarted {
        /// The agent it runs.
        agent: AgentSummary,
    },
    /// The session goes on in another process or with another agent.
    SessionResumed {
        /// The agent it runs.
        agent: AgentSummary,
    },
    /// The user said something.
    UserMessage {
        /// What.
        text: String,
    },
    /// A turn began.
    TurnStarted {
        /// Its number in the session, counted from 1.
        turn: u64,
    },
    /// The model answered.
    AssistantMessage {
        /// The turn.
        turn: u64,
        /// What it said.
        text: String,
        /// The tools it called.
        tool_calls: Vec<ToolCall>,
        /// Why it stopped.
        stop: StopReason,
        /// What it used.
        usage: Usage,
    },
    /// A tool call ended.
    ToolResult {
        /// The turn.
        turn: u64,
        /// The call's id.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// What the tool says to the model.
        output: String,
        /// How it ended.
        outcome: ToolOutcome,
    },
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn: u64,
        /// How.
        outcome: TurnOutcome,
    },
    /// An event of a later version, of which only its presence is known.
    #[serde(other)]
    Unknown,
}
