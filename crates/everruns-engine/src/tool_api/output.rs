use serde::Serialize;
use serde_json::Value;

/// What a tool tells the model, and programs that watch or read the session.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The text, for the model.
    pub text: String,
    /// The facts, for programs: what [`Tool::output_schema`](super::Tool::output_schema) describes. They are recorded
    /// with the call's result, unless they have more than 64 KiB, and the model is not told.
    pub data: Option<Value>,
}

impl ToolOutput {
    /// An output of `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            data: None,
        }
    }

    /// Adds the facts. What is no JSON, such as a map whose keys are no texts, is left out.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::to_value(data).ok();
        self
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
