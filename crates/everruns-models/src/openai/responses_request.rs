use everruns_core::model::{Message, ModelRequest, ToolCall, ToolSpec};
use serde_json::{Value, json};

/// The body of a request to the Responses API. `store` is off: the conversation is ours to keep.
pub(super) fn body(request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": request.model,
        "input": request.messages.iter().flat_map(items).collect::<Vec<_>>(),
        "stream": true,
        "store": false,
    });
    if !request.instructions.is_empty() {
        body["instructions"] = json!(request.instructions);
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

fn items(message: &Message) -> Vec<Value> {
    match message {
        Message::User { text } => vec![json!({ "role": "user", "content": text })],
        Message::Assistant { text, tool_calls } => {
            let said = (!text.is_empty()).then(|| json!({ "role": "assistant", "content": text }));
            said.into_iter()
                .chain(tool_calls.iter().map(call))
                .collect()
        }
        Message::ToolResult {
            call_id, output, ..
        } => vec![json!({
            "type": "function_call_output",
            "call_id": call_id,
            "output": output,
        })],
        // A kind of message that this version does not know has no form here.
        _ => Vec::new(),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": super::chat_request::arguments(&call.arguments),
    })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        // Strict schemas allow no optional arguments.
        "strict": false,
    })
}
