use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A wish of the model to call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of this call; its result carries the same.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model gave them; a text when they were no JSON.
    pub arguments: Value,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// From the user.
    User {
        /// What the user says.
        text: String,
    },
    /// From the model.
    Assistant {
        /// What the model says; may be empty when it only calls tools.
        text: String,
        /// The tools it calls.
        tool_calls: Vec<ToolCall>,
    },
    /// The outcome of one tool call.
    ToolResult {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// What the tool says to the model.
        output: String,
        /// Whether it failed.
        is_error: bool,
    },
}

impl Message {
    /// A message from the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// A message from the model without tool calls.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant {
            text: text.into(),
            tool_calls: Vec::new(),
        }
    }
}
