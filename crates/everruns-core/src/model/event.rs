use std::pin::Pin;

use futures::Stream;
use serde::{Deserialize, Serialize};

use super::{ModelError, ToolCall, Usage};

/// The answer of a model as it comes: deltas and calls, then exactly one [`ModelEvent::End`]. A stream that ends
/// without it was cut off and is an error.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It has said all.
    EndTurn,
    /// It wants tools to be called.
    ToolCalls,
    /// Its output limit was reached.
    MaxTokens,
    /// The provider stopped it for its content.
    ContentFilter,
    /// Another reason.
    Other,
}

/// One piece of a model's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More text.
    TextDelta(String),
    /// More of its reasoning, where the provider shows it.
    ReasoningDelta(String),
    /// A complete tool call.
    ToolCall(ToolCall),
    /// The end, once.
    End {
        /// Why it stopped.
        stop: StopReason,
        /// What it used, when the provider says so.
        usage: Usage,
    },
}
