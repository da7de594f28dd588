use everruns_core::model::{Message, ModelRequest, ToolCall, ToolSpec};
use serde_json::{Value, json};

/// The body of a request to Chat Completions.
pub(super) fn body(request: &ModelRequest) -> Value {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.instructions.is_empty() {
        messages.push(json!({ "role": "system", "content": request.instructions }));
    }
    messages.extend(request.messages.iter().filter_map(message));
    let mut body = json!({
        "model": request.model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

/// Arguments as the text that the model gave.
pub(super) fn arguments(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn message(message: &Message) -> Option<Value> {
    Some(match message {
        Message::User { text } => json!({ "role": "user", "content": text }),
        // An answer in which the model said and called nothing: some servers refuse it.
        Message::Assistant { text, tool_calls } if text.is_empty() && tool_calls.is_empty() => {
            return None;
        }
        Message::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, tool_calls } => json!({
            "role": "assistant",
            "content": (!text.is_empty()).then_some(text),
            "tool_calls": tool_calls.iter().map(call).collect::<Vec<_>>(),
        }),
        Message::ToolResult {
            call_id, output, ..
        } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": output })
        }
        // A kind of message that this version does not know has no form here.
        _ => return None,
    })
}

fn call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": arguments(&call.arguments) });
    json!({ "id": call.id, "type": "function", "function": function })
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    });
    json!({ "type": "function", "function": function })
}
