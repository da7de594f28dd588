use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::AgentSummary;
use crate::clock::Timestamp;
use crate::ids::SessionId;
use crate::model::{StopReason, ToolCall, Usage};
use crate::workspace::WorkspaceCheckpoint;

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
    /// Its process ended, or lost its hold of the session, before the outcome was recorded: it may or may not have taken effect.
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
    /// Its process ended, or lost its hold of the session, in the middle; whoever went on with the session closed the record.
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
        /// The same for programs, as the tool's output schema describes it; the model is not told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn: u64,
        /// How.
        outcome: TurnOutcome,
    },
    /// The head's files at this place of the record are kept.
    CheckpointTaken {
        /// The turn in which it was taken.
        turn: u64,
        /// Where they are kept.
        checkpoint: WorkspaceCheckpoint,
    },
    /// The head's files have changed, and are not kept at this place of the record.
    CheckpointMissed {
        /// The turn in which they changed.
        turn: u64,
        /// Why they are not kept, for people.
        reason: String,
    },
    /// Files and conversation are about to go back; [`Rewound`](Self::Rewound) or
    /// [`RewindFailed`](Self::RewindFailed) follows, at the latest when the session is resumed. After
    /// [`RecordRestored`](Self::RecordRestored) neither does, and nothing goes back.
    RewindBegun {
        /// The event after which the conversation is to go on.
        to: Sequence,
        /// The files to go back to; none when they are as they were then.
        checkpoint: Option<WorkspaceCheckpoint>,
    },
    /// Files and conversation went back. The events between are no part of the conversation any more.
    Rewound {
        /// The event after which the conversation goes on.
        to: Sequence,
        /// The files before, when any were brought back.
        before: Option<WorkspaceCheckpoint>,
    },
    /// Nothing went back.
    RewindFailed {
        /// The event that was to be gone back to.
        to: Sequence,
        /// Why, for people.
        reason: String,
    },
    /// A fork is about to be made; [`ForkEnded`](Self::ForkEnded) follows, at the latest when this session is resumed.
    /// After [`RecordRestored`](Self::RecordRestored) it does not, and what there is of the fork is left alone.
    ForkBegun {
        /// The session to be made.
        session: SessionId,
        /// The name of the head to be made.
        head: String,
        /// The last event that the fork is to have.
        through: Sequence,
        /// The files that the fork is to have; the present ones when none.
        checkpoint: Option<WorkspaceCheckpoint>,
    },
    /// Both the session and the head of a fork were made, or neither was. The session may be deleted again by then.
    ForkEnded {
        /// The session.
        session: SessionId,
        /// Whether they were made.
        made: bool,
    },
    /// The session is a fork; the events up to here are those of its source.
    Forked {
        /// The session it was made from.
        from: SessionId,
    },
    /// The records were restored from an older backup: what happened after it is missing here, and the files were not
    /// taken back. What had been begun between turns is not finished: nobody knows here what became of it.
    RecordRestored,
    /// An event of a later version, of which only its presence is known.
    #[serde(other)]
    Unknown,
}
