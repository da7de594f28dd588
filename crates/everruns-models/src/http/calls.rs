use std::collections::BTreeMap;

use everruns_core::model::{ModelError, ToolCall};
use serde_json::{Map, Value};

use super::failure::protocol;

/// More calls than any model makes at once; a server that sends more is broken.
const MOST_CALLS: usize = 1_000;
/// More bytes of arguments than any model's output limit allows.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Tool calls whose arguments come in pieces, several calls interleaved.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    parts: BTreeMap<u64, Part>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Part {
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Begins the call at `index`, or names it when it has begun. Empty texts change nothing.
    pub(crate) fn begin(&mut self, index: u64, id: &str, name: &str) -> Result<(), ModelError> {
        let part = self.part(index)?;
        if !id.is_empty() {
            id.clone_into(&mut part.id);
        }
        if !name.is_empty() {
            name.clone_into(&mut part.name);
        }
        Ok(())
    }

    /// Adds to the arguments of the call at `index`.
    pub(crate) fn push(&mut self, index: u64, arguments: &str) -> Result<(), ModelError> {
        self.bytes += arguments.len();
        if self.bytes > MOST_BYTES {
            return Err(protocol("the tool calls of one answer are too large"));
        }
        self.part(index)?.arguments.push_str(arguments);
        Ok(())
    }

    /// Takes the call at `index`, which is complete.
    pub(crate) fn take(&mut self, index: u64) -> Result<Option<ToolCall>, ModelError> {
        self.parts.remove(&index).map(Part::complete).transpose()
    }

    /// Takes all calls in their order.
    #[cfg(feature = "openai")]
    pub(crate) fn take_all(&mut self) -> Result<Vec<ToolCall>, ModelError> {
        let parts = std::mem::take(&mut self.parts);
        parts.into_values().map(Part::complete).collect()
    }

    fn part(&mut self, index: u64) -> Result<&mut Part, ModelError> {
        if self.parts.len() >= MOST_CALLS && !self.parts.contains_key(&index) {
            return Err(protocol("one answer makes too many tool calls"));
        }
        Ok(self.parts.entry(index).or_default())
    }
}

impl Part {
    fn complete(self) -> Result<ToolCall, ModelError> {
        if self.id.is_empty() || self.name.is_empty() {
            return Err(protocol("a tool call has no id or no name"));
        }
        Ok(ToolCall {
            arguments: arguments(&self.arguments),
            id: self.id,
            name: self.name,
        })
    }
}

/// The arguments as JSON; a text when they are none, so that the model can be told.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
