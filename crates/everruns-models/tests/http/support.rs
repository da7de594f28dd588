//! A real HTTP server that plays byte streams, and short ways to ask a provider.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use everruns_core::model::StopReason;
use everruns_core::model::{
    Message, ModelError, ModelEvent, ModelProvider, ModelRequest, ToolCall, ToolSpec, Usage,
};
use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What the server answers to one request.
#[derive(Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    chunk: usize,
    ending: Ending,
}

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Whole,
    Cut,
    Hang,
}

impl Reply {
    /// An event stream of these events, sent in chunks of seven bytes.
    pub(crate) fn events(events: &[Value]) -> Self {
        let events: Vec<String> = events
            .iter()
            .map(|event| format!("data: {event}"))
            .collect();
        let body = events.join(
            "

",
        ) + "

";
        Self::stream(body)
    }

    pub(crate) fn stream(body: impl Into<String>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream; charset=utf-8".into())],
            body: body.into(),
            chunk: 7,
            ending: Ending::Whole,
        }
    }

    pub(crate) fn status(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".into())],
            ..Self::stream(body.to_string())
        }
    }

    #[cfg(feature = "openai")]
    pub(crate) fn with_done(mut self) -> Self {
        self.body.push_str("data: [DONE]\n\n");
        self
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// Sends the body as one chunk.
    #[cfg(feature = "anthropic")]
    pub(crate) fn at_once(mut self) -> Self {
        self.chunk = usize::MAX;
        self
    }

    /// Breaks the connection behind the body.
    pub(crate) fn cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Never ends.
    pub(crate) fn hang(mut self) -> Self {
        self.ending = Ending::Hang;
        self
    }
}

/// A request as the server got it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    dropped: Arc<Notify>,
}

/// Tells when the server stops sending, which happens when the connection is closed.
struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Server {
    pub(crate) async fn start(reply: Reply) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let dropped = Arc::new(Notify::new());
        let (log, told) = (Arc::clone(&seen), Arc::clone(&dropped));
        let router = Router::new().fallback(move |request: Request| {
            let (log, told, reply) = (Arc::clone(&log), Arc::clone(&told), reply.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                log.lock().unwrap().push(Seen {
                    path: head.uri.to_string(),
                    headers: head.headers,
                    body: serde_json::from_slice(&body).unwrap(),
                });
                Ok::<_, Infallible>(answer(reply, OnDrop(told)))
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, seen, dropped }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen
            .lock()
            .unwrap()
            .last()
            .expect("a request came")
            .clone()
    }

    #[cfg(feature = "openai")]
    pub(crate) fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// Waits until the server has stopped to send.
    pub(crate) async fn stopped(&self) -> bool {
        tokio::time::timeout(Duration::from_secs(5), self.dropped.notified())
            .await
            .is_ok()
    }
}

fn answer(reply: Reply, guard: OnDrop) -> Response {
    let chunks: Vec<Bytes> = reply
        .body
        .as_bytes()
        .chunks(reply.chunk)
        .map(Bytes::copy_from_slice)
        .collect();
    let sent = futures::stream::iter(chunks).then(|chunk| async move {
        tokio::task::yield_now().await;
        Ok::<_, std::io::Error>(chunk)
    });
    let ending = reply.ending;
    let tail = futures::stream::once(async move {
        let _guard = guard;
        match ending {
            Ending::Whole => Ok(Bytes::new()),
            Ending::Cut => {
                // What was sent so far is to arrive first.
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::other("cut"))
            }
            Ending::Hang => futures::future::pending().await,
        }
    });
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from_stream(sent.chain(tail))).unwrap()
}

/// A conversation with everything in it that providers write differently.
pub(crate) fn conversation() -> ModelRequest {
    let call = |id: &str, path: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: json!({ "path": path }),
    };
    let result = |id: &str, is_error| Message::ToolResult {
        call_id: id.into(),
        tool: "read_file".into(),
        output: format!("result of {id}"),
        is_error,
    };
    ModelRequest {
        model: "gpt-5.6-terra".into(),
        instructions: "Be brief.".into(),
        messages: vec![
            Message::user("Read both."),
            Message::Assistant {
                text: "I look.".into(),
                tool_calls: vec![call("c1", "a"), call("c2", "b")],
            },
            result("c1", false),
            result("c2", true),
        ]
        .into(),
        tools: vec![ToolSpec {
            name: "read_file".into(),
            description: "Reads.".into(),
            input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        }]
        .into(),
    }
}

/// What came out of a stream.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) deltas: usize,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) end: Option<(StopReason, Usage)>,
    pub(crate) error: Option<ModelError>,
}

impl Outcome {
    pub(crate) fn calls(&self) -> Vec<(&str, &str, Value)> {
        let calls = self.calls.iter();
        calls
            .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.clone()))
            .collect()
    }
}

pub(crate) async fn ask(provider: &impl ModelProvider) -> Outcome {
    let mut outcome = Outcome::default();
    let mut stream = match provider.stream(conversation()).await {
        Ok(stream) => stream,
        Err(error) => {
            outcome.error = Some(error);
            return outcome;
        }
    };
    while let Some(event) = stream.next().await {
        assert!(
            outcome.end.is_none() && outcome.error.is_none(),
            "nothing comes behind the end"
        );
        match event {
            Ok(ModelEvent::TextDelta(text)) => {
                outcome.deltas += 1;
                outcome.text.push_str(&text);
            }
            Ok(ModelEvent::ReasoningDelta(text)) => outcome.reasoning.push_str(&text),
            Ok(ModelEvent::ToolCall(call)) => outcome.calls.push(call),
            Ok(ModelEvent::End { stop, usage }) => outcome.end = Some((stop, usage)),
            Ok(other) => panic!("unknown event {other:?}"),
            Err(error) => outcome.error = Some(error),
        }
    }
    outcome
}

pub(crate) async fn fails(provider: &impl ModelProvider) -> ModelError {
    ask(provider).await.error.expect("it fails")
}

pub(crate) fn usage(input: u64, cached: u64, output: u64) -> Usage {
    Usage {
        input_tokens: input,
        cached_input_tokens: cached,
        output_tokens: output,
    }
}
