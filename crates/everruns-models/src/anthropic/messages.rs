use everruns_core::model::{ModelError, ModelEvent, StopReason, Usage};
use serde_json::Value;

use crate::http::{Calls, Decoder, Failure, Step, protocol};

/// Understands the event stream of the Messages API.
#[derive(Debug, Default)]
pub(super) struct MessagesDecoder {
    calls: Calls,
    stop: Option<StopReason>,
    usage: Usage,
}

impl Decoder for MessagesDecoder {
    fn event(&mut self, data: &str) -> Result<Step, ModelError> {
        let event: Value = serde_json::from_str(data)
            .map_err(|error| protocol("an event is no JSON").with_source(error))?;
        let Some(kind) = event["type"].as_str() else {
            return Err(protocol("an event has no type"));
        };
        let index = event["index"].as_u64().unwrap_or_default();
        let pieces = match kind {
            "message_start" => {
                self.count(&event["message"]["usage"]);
                Vec::new()
            }
            "content_block_start" => self.block(index, &event["content_block"])?,
            "content_block_delta" => self.delta(index, &event["delta"])?,
            "content_block_stop" => {
                let call = self.calls.take(index)?;
                call.into_iter().map(ModelEvent::ToolCall).collect()
            }
            "message_delta" => {
                self.count(&event["usage"]);
                self.stop = event["delta"]["stop_reason"]
                    .as_str()
                    .map(stop)
                    .or(self.stop);
                Vec::new()
            }
            "message_stop" => return Ok(Step::End(vec![self.end()])),
            "error" => return Ok(Step::Failed(Failure::from_json(&event))),
            _ => Vec::new(),
        };
        Ok(Step::Pieces(pieces))
    }
}

impl MessagesDecoder {
    fn block(&mut self, index: u64, block: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        match text("type") {
            "tool_use" => {
                self.calls.begin(index, text("id"), text("name"))?;
                // The input comes in pieces; a server that does not cut it gives it here.
                if block["input"]
                    .as_object()
                    .is_some_and(|input| !input.is_empty())
                {
                    self.calls.push(index, &block["input"].to_string())?;
                }
                Ok(Vec::new())
            }
            "text" if !text("text").is_empty() => {
                Ok(vec![ModelEvent::TextDelta(text("text").to_owned())])
            }
            _ => Ok(Vec::new()),
        }
    }

    fn delta(&mut self, index: u64, delta: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        match text("type") {
            "text_delta" => Ok(vec![ModelEvent::TextDelta(text("text").to_owned())]),
            "thinking_delta" => Ok(vec![ModelEvent::ReasoningDelta(
                text("thinking").to_owned(),
            )]),
            "input_json_delta" => {
                self.calls.push(index, text("partial_json"))?;
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The counts come twice, the later ones being totals; what is left out then stays as it was.
    fn count(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64();
        if let Some(fresh) = count("input_tokens") {
            let cached = count("cache_read_input_tokens").unwrap_or_default();
            let written = count("cache_creation_input_tokens").unwrap_or_default();
            self.usage.input_tokens = fresh + cached + written;
            self.usage.cached_input_tokens = cached;
        }
        if let Some(made) = count("output_tokens") {
            self.usage.output_tokens = made;
        }
    }

    /// A call whose block was not ended was cut off, and is not made.
    fn end(&mut self) -> ModelEvent {
        ModelEvent::End {
            stop: self.stop.unwrap_or(StopReason::Other),
            usage: self.usage,
        }
    }
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::ContentFilter,
        _ => StopReason::Other,
    }
}
