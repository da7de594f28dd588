use everruns_core::model::{ModelError, ModelEvent, StopReason, ToolCall, Usage};
use serde_json::Value;

use crate::http::{Calls, Decoder, Failure, Step, arguments, protocol};

/// Understands the event stream of the Responses API.
#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    calls: Calls,
    emitted: Vec<String>,
    said: bool,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, data: &str) -> Result<Step, ModelError> {
        if data == "[DONE]" {
            return Ok(Step::Pieces(Vec::new()));
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|error| protocol("an event is no JSON").with_source(error))?;
        let Some(kind) = event["type"].as_str() else {
            return Err(protocol("an event has no type"));
        };
        let delta = || event["delta"].as_str().unwrap_or_default().to_owned();
        let index = event["output_index"].as_u64().unwrap_or_default();
        let pieces = match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.said = true;
                vec![ModelEvent::TextDelta(delta())]
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                vec![ModelEvent::ReasoningDelta(delta())]
            }
            "response.output_item.added" => {
                self.begin(index, &event["item"])?;
                Vec::new()
            }
            "response.function_call_arguments.delta" => {
                self.calls
                    .push(index, event["delta"].as_str().unwrap_or_default())?;
                Vec::new()
            }
            "response.output_item.done" => self.done(index, &event["item"])?,
            "response.completed" => return self.completed(&event["response"]).map(Step::End),
            "response.incomplete" => return Ok(Step::End(vec![incomplete(&event["response"])])),
            "response.failed" => return Ok(Step::Failed(Failure::from_json(&event["response"]))),
            "error" => return Ok(Step::Failed(Failure::from_json(&event))),
            _ => Vec::new(),
        };
        Ok(Step::Pieces(pieces))
    }
}

impl ResponsesDecoder {
    fn begin(&mut self, index: u64, item: &Value) -> Result<(), ModelError> {
        if item["type"] != "function_call" {
            return Ok(());
        }
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        self.calls.begin(index, text("call_id"), text("name"))
    }

    /// A finished item says all of its call again; where it does not, the pieces do.
    fn done(&mut self, index: u64, item: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        if item["type"] != "function_call" {
            return Ok(Vec::new());
        }
        self.begin(index, item)?;
        let pieces = self.calls.take(index)?;
        let call = complete_call(item).or(pieces);
        Ok(call.into_iter().map(|call| self.emit(call)).collect())
    }

    /// The end repeats the whole answer. What did not come before it comes now: some servers send only this event.
    fn completed(&mut self, response: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let mut pieces = Vec::new();
        for item in response["output"].as_array().into_iter().flatten() {
            let call = complete_call(item).filter(|call| !self.emitted.contains(&call.id));
            pieces.extend(call.map(|call| self.emit(call)));
            if !self.said {
                pieces.extend(texts(item).map(ModelEvent::TextDelta));
            }
        }
        let left = self.calls.take_all()?;
        let left = left
            .into_iter()
            .filter(|call| !self.emitted.contains(&call.id));
        let left: Vec<ToolCall> = left.collect();
        pieces.extend(left.into_iter().map(|call| self.emit(call)));
        let stop = if self.emitted.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolCalls
        };
        let usage = usage(&response["usage"]);
        pieces.push(ModelEvent::End { stop, usage });
        Ok(pieces)
    }

    fn emit(&mut self, call: ToolCall) -> ModelEvent {
        self.emitted.push(call.id.clone());
        ModelEvent::ToolCall(call)
    }
}

fn complete_call(item: &Value) -> Option<ToolCall> {
    if item["type"] != "function_call" {
        return None;
    }
    let text = |name: &str| item[name].as_str().filter(|text| !text.is_empty());
    Some(ToolCall {
        id: text("call_id")?.to_owned(),
        name: text("name")?.to_owned(),
        arguments: arguments(text("arguments")?),
    })
}

fn texts(item: &Value) -> impl Iterator<Item = String> + '_ {
    let parts = item["content"].as_array().into_iter().flatten();
    let parts = parts.filter(|_| item["type"] == "message");
    parts.filter_map(|part| {
        part["text"]
            .as_str()
            .or(part["refusal"].as_str())
            .map(str::to_owned)
    })
}

/// The answer was cut off; a call that was not finished is not made.
fn incomplete(response: &Value) -> ModelEvent {
    let stop = match response["incomplete_details"]["reason"].as_str() {
        Some("max_output_tokens") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::ContentFilter,
        _ => StopReason::Other,
    };
    ModelEvent::End {
        stop,
        usage: usage(&response["usage"]),
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    Usage {
        input_tokens: count(&usage["input_tokens"]),
        cached_input_tokens: count(&usage["input_tokens_details"]["cached_tokens"]),
        output_tokens: count(&usage["output_tokens"]),
    }
}
