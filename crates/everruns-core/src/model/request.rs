use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Messages;

/// What a model is told of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The tool's name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub input_schema: Value,
}

/// One request to a model. Cheap to make and to clone, however long the conversation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRequest {
    /// The provider's name of the model.
    pub model: String,
    /// What the model is to be and do.
    pub instructions: String,
    /// The conversation, oldest first. Every tool call is followed by its result.
    pub messages: Messages,
    /// The tools it may call.
    pub tools: Arc<[ToolSpec]>,
}
