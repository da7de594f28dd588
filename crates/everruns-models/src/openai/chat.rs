use everruns_core::model::{ModelError, ModelEvent, StopReason, ToolCall, Usage};
use serde_json::Value;

use crate::http::{Calls, Decoder, Failure, Step, protocol};

/// Understands the event stream of Chat Completions.
#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    calls: Calls,
    finish: Option<String>,
    usage: Usage,
}

impl Decoder for ChatDecoder {
    fn event(&mut self, data: &str) -> Result<Step, ModelError> {
        if data.trim() == "[DONE]" {
            return self.end().map(Step::End);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| protocol("an event is no JSON").with_source(error))?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Ok(Step::Failed(Failure::from_json(&chunk)));
        }
        if !chunk.is_object() {
            return Err(protocol("an event is no object"));
        }
        if chunk["usage"].is_object() {
            self.usage = usage(&chunk["usage"]);
        }
        let choice = &chunk["choices"][0];
        let pieces = texts(&choice["delta"]);
        for call in choice["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.call(call)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish = Some(reason.to_owned());
        }
        Ok(Step::Pieces(pieces))
    }

    /// Some servers end without `[DONE]`; the reason to finish says that the answer is whole.
    fn finish(&mut self) -> Result<Option<Vec<ModelEvent>>, ModelError> {
        self.finish.is_some().then(|| self.end()).transpose()
    }
}

impl ChatDecoder {
    fn call(&mut self, call: &Value) -> Result<(), ModelError> {
        let index = call["index"].as_u64().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.calls
            .begin(index, &text(&call["id"]), &text(&call["function"]["name"]))?;
        self.calls
            .push(index, &text(&call["function"]["arguments"]))
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        let reason = self.finish.take();
        let cut = matches!(reason.as_deref(), Some("length" | "content_filter"));
        let mut calls = self.calls.take_all();
        if cut {
            // The call at which the answer was cut off is not whole, and is not made.
            calls = Ok(calls
                .unwrap_or_default()
                .into_iter()
                .filter(is_whole)
                .collect());
        }
        let calls = calls?;
        let stop = match reason.as_deref() {
            Some("length") => StopReason::MaxTokens,
            Some("content_filter") => StopReason::ContentFilter,
            // Some servers say `stop` with calls, so the calls decide.
            _ if !calls.is_empty() => StopReason::ToolCalls,
            Some("stop") => StopReason::EndTurn,
            _ => StopReason::Other,
        };
        let mut pieces: Vec<_> = calls.into_iter().map(ModelEvent::ToolCall).collect();
        let usage = self.usage;
        pieces.push(ModelEvent::End { stop, usage });
        Ok(pieces)
    }
}

fn is_whole(call: &ToolCall) -> bool {
    call.arguments.is_object()
}

fn texts(delta: &Value) -> Vec<ModelEvent> {
    let text = |name: &str| {
        delta[name]
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let reasoning = text("reasoning_content").or_else(|| text("reasoning"));
    let said = [text("content"), text("refusal")];
    let said = said.into_iter().flatten().map(ModelEvent::TextDelta);
    reasoning
        .map(ModelEvent::ReasoningDelta)
        .into_iter()
        .chain(said)
        .collect()
}

fn usage(usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    Usage {
        input_tokens: count(&usage["prompt_tokens"]),
        cached_input_tokens: count(&usage["prompt_tokens_details"]["cached_tokens"]),
        output_tokens: count(&usage["completion_tokens"]),
    }
}
