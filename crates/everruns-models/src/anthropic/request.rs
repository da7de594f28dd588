use everruns_core::model::{Message, Messages, ModelRequest, ToolCall, ToolSpec};
use serde_json::{Value, json};

/// What the model reads of a call that failed and said nothing.
const FAILED_SILENTLY: &str = "[failed without a message]";

const USUAL_LIMIT: u32 = 32_000;
const LIMIT_OF_THE_THIRD_GENERATION: u32 = 4_096;

/// The body of a request to the Messages API.
///
/// The instructions and the last message are marked to be cached: the next request of a conversation begins with the
/// same bytes, so that a long conversation is not paid for again and again.
pub(super) fn body(request: &ModelRequest, output_limit: Option<u32>) -> Value {
    let mut messages = messages(&request.messages);
    if let Some(block) = messages
        .last_mut()
        .and_then(|last| last["content"].as_array_mut()?.last_mut())
    {
        block["cache_control"] = cached();
    }
    let mut body = json!({
        "model": request.model,
        "max_tokens": output_limit.unwrap_or_else(|| usual_limit(&request.model)),
        "messages": messages,
        "stream": true,
    });
    if !request.instructions.is_empty() {
        body["system"] = json!([
            { "type": "text", "text": request.instructions, "cache_control": cached() }
        ]);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn cached() -> Value {
    json!({ "type": "ephemeral" })
}

fn usual_limit(model: &str) -> u32 {
    if model.starts_with("claude-3-") && !model.starts_with("claude-3-7") {
        LIMIT_OF_THE_THIRD_GENERATION
    } else {
        USUAL_LIMIT
    }
}

/// Messages of one role that follow each other become one: the results of parallel calls must come together.
fn messages(messages: &Messages) -> Vec<Value> {
    let mut grouped: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages.iter() {
        let (role, blocks) = blocks(message);
        match grouped.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => grouped.push((role, blocks)),
        }
    }
    let messages = grouped.into_iter();
    messages
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User { text } => ("user", said(text).into_iter().collect()),
        Message::Assistant { text, tool_calls } => (
            "assistant",
            said(text)
                .into_iter()
                .chain(tool_calls.iter().map(call))
                .collect(),
        ),
        Message::ToolResult {
            call_id,
            output,
            is_error,
            ..
        } => {
            // The API refuses a failure without content.
            let silent = *is_error && output.trim().is_empty();
            let result = json!({
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": if silent { FAILED_SILENTLY } else { output },
                "is_error": is_error,
            });
            ("user", vec![result])
        }
        // A kind of message that this version does not know has no form here.
        _ => ("user", Vec::new()),
    }
}

/// Blank texts are refused by the API.
fn said(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn call(call: &ToolCall) -> Value {
    let input = match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        // The API takes objects only; arguments that were none are shown to the model as they were.
        other => json!({ "malformed": other }),
    };
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    })
}
