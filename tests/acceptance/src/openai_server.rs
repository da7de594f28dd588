//! A scripted server that speaks `OpenAI`'s wire format over real HTTP.
//!
//! It answers `POST …/responses` and `POST …/chat/completions` alike, each request with the next step of its script,
//! streamed in several events. It is no model: what it says and calls is what the script says.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use serde_json::{Value, json};

/// The answer to one request.
#[derive(Clone, Debug, Default)]
pub struct ScriptedStep {
    /// What it says.
    pub text: String,
    /// The tools it calls, with their arguments.
    pub calls: Vec<(String, Value)>,
    /// How long it waits before each event of its answer.
    pub delay: Duration,
    /// The HTTP status of a refusal, instead of an answer.
    pub refusal: Option<u16>,
}

impl ScriptedStep {
    /// A step that says `text`.
    pub fn say(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A step that calls a tool.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_call(tool, arguments)
    }

    /// A step that is refused with an HTTP status.
    pub fn refuse(status: u16) -> Self {
        Self {
            refusal: Some(status),
            ..Self::default()
        }
    }

    /// Adds a call.
    #[must_use]
    pub fn and_call(mut self, tool: impl Into<String>, arguments: Value) -> Self {
        self.calls.push((tool.into(), arguments));
        self
    }

    /// Waits before each event of the answer.
    #[must_use]
    pub fn slow(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Reads a step from JSON: `{"text": "…", "calls": [{"name": "…", "arguments": {…}}], "delay_ms": 100,
    /// "refusal": 500}`, all of it optional.
    ///
    /// # Errors
    /// A text that says which field is not understood.
    pub fn from_json(step: &Value) -> Result<Self, String> {
        let fields = step.as_object().ok_or("a step is an object")?;
        let mut read = Self::default();
        for (name, value) in fields {
            let wrong = || format!("`{name}` is not understood: {value}");
            match name.as_str() {
                "text" => value.as_str().ok_or_else(wrong)?.clone_into(&mut read.text),
                "delay_ms" => read.delay = Duration::from_millis(value.as_u64().ok_or_else(wrong)?),
                "refusal" => {
                    let status = value.as_u64().and_then(|status| u16::try_from(status).ok());
                    read.refusal = Some(status.ok_or_else(wrong)?);
                }
                "calls" => {
                    for call in value.as_array().ok_or_else(wrong)? {
                        let tool = call["name"].as_str().ok_or_else(wrong)?;
                        read.calls
                            .push((tool.to_owned(), call["arguments"].clone()));
                    }
                }
                _ => return Err(wrong()),
            }
        }
        Ok(read)
    }
}

/// A request that the server got.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// The path and query.
    pub path: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The body.
    pub body: Value,
}

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub struct ScriptedOpenAi {
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
    address: SocketAddr,
}

#[derive(Debug)]
struct Shared {
    steps: Vec<ScriptedStep>,
    seen: Mutex<Vec<SeenRequest>>,
}

impl ScriptedOpenAi {
    /// Starts a server on a free port of this machine. The second value is the base URL, which ends with `/v1`.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(steps: Vec<ScriptedStep>) -> io::Result<(Self, String)> {
        Self::start_at("127.0.0.1:0", steps).await
    }

    /// Starts a server at `address`.
    ///
    /// # Errors
    /// When the address can't be had.
    pub async fn start_at(address: &str, steps: Vec<ScriptedStep>) -> io::Result<(Self, String)> {
        let listener = tokio::net::TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            steps,
            seen: Mutex::default(),
        });
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // Serving ends with the task, which ends with the handle.
            drop(axum::serve(listener, router).await);
        });
        let server = Self {
            shared,
            task,
            address,
        };
        let base_url = format!("http://{address}/v1");
        Ok((server, base_url))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.seen().clone()
    }

    /// How many steps of the script are left.
    pub fn remaining(&self) -> usize {
        self.shared
            .steps
            .len()
            .saturating_sub(self.shared.seen().len())
    }
}

impl Drop for ScriptedOpenAi {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn seen(&self) -> std::sync::MutexGuard<'_, Vec<SeenRequest>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and says which one it is, counted from zero.
    fn record(&self, request: SeenRequest) -> usize {
        let mut seen = self.seen();
        seen.push(request);
        seen.len() - 1
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, 64 * 1024 * 1024).await else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return refusal(StatusCode::BAD_REQUEST, "the request is no JSON");
    };
    let path = head.uri.path().to_owned();
    let authorization = head
        .headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let number = shared.record(SeenRequest {
        path: head.uri.to_string(),
        authorization: authorization.map(str::to_owned),
        body,
    });
    let Some(step) = shared.steps.get(number).cloned() else {
        let steps = shared.steps.len();
        let message = format!(
            "the script is used up: it has {steps} steps, this is request {}",
            number + 1
        );
        return refusal(StatusCode::BAD_REQUEST, &message);
    };
    if let Some(status) = step.refusal {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return refusal(status, "the script says to refuse");
    }
    if path.ends_with("/responses") {
        stream(responses_events(&step, number), step.delay)
    } else if path.ends_with("/chat/completions") {
        let mut events = chat_events(&step, number);
        events.push("[DONE]".into());
        stream(events, step.delay)
    } else {
        refusal(
            StatusCode::NOT_FOUND,
            "there are only …/responses and …/chat/completions",
        )
    }
}

fn refusal(status: StatusCode, message: &str) -> Response {
    let body = json!({ "error": { "message": message, "type": "scripted", "code": null } });
    (status, axum::Json(body)).into_response()
}

fn stream(events: Vec<String>, delay: Duration) -> Response {
    let events = futures::stream::iter(events).then(move |event| async move {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        Ok::<_, io::Error>(Bytes::from(format!("data: {event}\n\n")))
    });
    let headers = [("content-type", "text/event-stream")];
    (headers, Body::from_stream(events)).into_response()
}

fn id(number: usize, call: usize) -> String {
    format!("call_{number}_{call}")
}

/// Pieces of a text, cut behind its words.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Arguments in two pieces, as models send them.
fn halves(arguments: &Value) -> [String; 2] {
    let text: Vec<char> = arguments.to_string().chars().collect();
    let (first, second) = text.split_at(text.len() / 2);
    [first.iter().collect(), second.iter().collect()]
}

fn responses_events(step: &ScriptedStep, number: usize) -> Vec<String> {
    let mut events =
        vec![json!({ "type": "response.created", "response": { "status": "in_progress" } })];
    let mut output = Vec::new();
    for delta in pieces(&step.text) {
        events.push(
            json!({ "type": "response.output_text.delta", "output_index": 0, "delta": delta }),
        );
    }
    if !step.text.is_empty() {
        let content = json!([{ "type": "output_text", "text": step.text }]);
        output.push(json!({ "type": "message", "role": "assistant", "content": content }));
    }
    for (call, (tool, arguments)) in step.calls.iter().enumerate() {
        let index = output.len();
        let item = |arguments: &str| json!({ "type": "function_call", "call_id": id(number, call), "name": tool, "arguments": arguments });
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item("") }));
        for delta in halves(arguments) {
            events.push(json!({ "type": "response.function_call_arguments.delta", "output_index": index, "delta": delta }));
        }
        let whole = item(&arguments.to_string());
        events.push(
            json!({ "type": "response.output_item.done", "output_index": index, "item": whole }),
        );
        output.push(whole);
    }
    let usage = json!({ "input_tokens": 100, "output_tokens": 10, "input_tokens_details": { "cached_tokens": 40 } });
    let response = json!({ "status": "completed", "output": output, "usage": usage });
    events.push(json!({ "type": "response.completed", "response": response }));
    events.iter().map(Value::to_string).collect()
}

fn chat_events(step: &ScriptedStep, number: usize) -> Vec<String> {
    let chunk = |delta: Value, finish: Option<&str>| json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    for text in pieces(&step.text) {
        events.push(chunk(json!({ "content": text }), None));
    }
    for (call, (tool, arguments)) in step.calls.iter().enumerate() {
        let [first, second] = halves(arguments);
        let begin = json!({ "index": call, "id": id(number, call), "type": "function", "function": { "name": tool, "arguments": first } });
        let rest = json!({ "index": call, "function": { "arguments": second } });
        events.push(chunk(json!({ "tool_calls": [begin] }), None));
        events.push(chunk(json!({ "tool_calls": [rest] }), None));
    }
    let finish = if step.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    events.push(chunk(json!({}), Some(finish)));
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": { "cached_tokens": 40 } });
    events.push(json!({ "object": "chat.completion.chunk", "choices": [], "usage": usage }));
    events.iter().map(Value::to_string).collect()
}
