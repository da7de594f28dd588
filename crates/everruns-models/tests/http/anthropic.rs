//! Anthropic's Messages API, on a real HTTP server.

use crate::support::{Reply, Server, ask, conversation, fails, usage};
use everruns_core::model::{Message, ModelErrorKind, ModelProvider as _, StopReason, ToolCall};
use everruns_models::Anthropic;
use futures::StreamExt as _;
use serde_json::{Value, json};

const KEY: &str = "sk-ant-very-secret";

fn provider(server: &Server) -> Anthropic {
    Anthropic::compatible(&server.url, KEY).unwrap()
}

fn start() -> Value {
    let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 3, "output_tokens": 1 });
    json!({ "type": "message_start", "message": { "usage": usage } })
}

fn block(index: u64, block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn text(text: &str) -> Value {
    delta(0, &json!({ "type": "text_delta", "text": text }))
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 8 } }),
        json!({ "type": "message_stop" }),
    ]
}

#[tokio::test]
async fn text_calls_and_usage_are_streamed() {
    let json = |index: u64, part: &str| {
        delta(
            index,
            &json!({ "type": "input_json_delta", "partial_json": part }),
        )
    };
    let tool = |id: &str| json!({ "type": "tool_use", "id": id, "name": "read_file", "input": {} });
    let mut events = vec![
        start(),
        json!({ "type": "ping" }),
        block(0, &json!({ "type": "text", "text": "" })),
        text("Grü"),
        text("ße"),
        stop(0),
        block(1, &tool("a")),
        json(1, "{\"pa"),
        json(1, "th\":\"1\"}"),
        stop(1),
        block(2, &tool("b")),
        stop(2),
        json!({ "type": "something_new" }),
    ];
    events.extend(end("tool_use"));
    let server = Server::start(Reply::events(&events)).await;
    let outcome = ask(&provider(&server)).await;
    assert_eq!((outcome.text.as_str(), outcome.deltas), ("Grüße", 2));
    assert_eq!(
        outcome.calls(),
        [
            ("a", "read_file", json!({ "path": "1" })),
            ("b", "read_file", json!({}))
        ]
    );
    assert_eq!(outcome.end, Some((StopReason::ToolCalls, usage(33, 20, 8))));
}

#[tokio::test]
async fn a_call_that_the_output_limit_cut_off_is_not_made() {
    let mut events = vec![
        start(),
        block(0, &json!({ "type": "tool_use", "id": "a", "name": "x" })),
    ];
    events.extend(end("max_tokens"));
    let server = Server::start(Reply::events(&events)).await;
    let outcome = ask(&provider(&server)).await;
    assert_eq!(
        (outcome.calls.len(), outcome.end.unwrap().0),
        (0, StopReason::MaxTokens)
    );
}

#[tokio::test]
async fn the_conversation_is_written_with_the_results_together() {
    let server = Server::start(Reply::events(&end("end_turn"))).await;
    ask(&provider(&server)).await;
    let seen = server.seen();
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.headers["x-api-key"], KEY);
    assert_eq!(seen.headers["anthropic-version"], "2023-06-01");
    let call = |id: &str, path: &str| json!({ "type": "tool_use", "id": id, "name": "read_file", "input": { "path": path } });
    assert_eq!(
        seen.body["messages"],
        json!([
            { "role": "user", "content": [{ "type": "text", "text": "Read both." }] },
            { "role": "assistant", "content": [{ "type": "text", "text": "I look." }, call("c1", "a"), call("c2", "b")] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c1", "content": "result of c1", "is_error": false },
                { "type": "tool_result", "tool_use_id": "c2", "content": "result of c2", "is_error": true,
                  "cache_control": { "type": "ephemeral" } },
            ] },
        ])
    );
    assert_eq!(seen.body["max_tokens"], 32_000);
    assert_eq!(seen.body["system"][0]["text"], "Be brief.");
    assert_eq!(seen.body["tools"][0]["input_schema"]["type"], "object");

    let server = Server::start(Reply::events(&end("end_turn"))).await;
    let with_version = Anthropic::compatible(format!("{}/v1/", server.url), KEY).unwrap();
    ask(&with_version.with_output_limit(99)).await;
    assert_eq!(
        (
            server.seen().path.as_str(),
            &server.seen().body["max_tokens"]
        ),
        ("/v1/messages", &json!(99))
    );
}

/// The API refuses a failed result without content, and a blank text.
#[tokio::test]
async fn a_failure_without_a_message_and_a_blank_answer_are_written_so_that_they_are_taken() {
    let server = Server::start(Reply::events(&end("end_turn"))).await;
    let mut request = conversation();
    request.messages = vec![
        Message::user("One."),
        Message::assistant(" \n"),
        Message::user("Two."),
        Message::Assistant {
            text: String::new(),
            tool_calls: vec![ToolCall {
                id: "c1".into(),
                name: "t".into(),
                arguments: json!({}),
            }],
        },
        Message::ToolResult {
            call_id: "c1".into(),
            tool: "t".into(),
            output: String::new(),
            is_error: true,
        },
    ]
    .into();
    drop(provider(&server).stream(request).await.unwrap());
    let written = server.seen().body["messages"].clone();
    let said = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(written[0]["content"], json!([said("One."), said("Two.")]));
    assert_eq!(written[1]["content"][0]["type"], "tool_use");
    assert_eq!(
        written[2]["content"][0]["content"],
        "[failed without a message]"
    );
}

#[tokio::test]
async fn refusals_have_their_kind_and_never_show_the_key() {
    let rows = [
        (
            401,
            "authentication_error",
            "no",
            ModelErrorKind::Authentication,
        ),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
            ModelErrorKind::ContextTooLong,
        ),
        (
            400,
            "invalid_request_error",
            "no",
            ModelErrorKind::InvalidRequest,
        ),
        (
            413,
            "request_too_large",
            "no",
            ModelErrorKind::ContextTooLong,
        ),
        (429, "rate_limit_error", "no", ModelErrorKind::RateLimited),
        (500, "api_error", "no", ModelErrorKind::Unavailable),
        (529, "overloaded_error", "no", ModelErrorKind::Unavailable),
    ];
    for (status, code, message, kind) in rows {
        let body = json!({ "type": "error", "error": { "type": code, "message": format!("{message} {KEY}") } });
        let server =
            Server::start(Reply::status(status, &body).with_header("retry-after", "2")).await;
        let error = fails(&provider(&server)).await;
        assert_eq!(error.kind, kind, "{status} {code}");
        assert_eq!(error.retry_after.map(|wait| wait.as_secs()), Some(2));
        assert!(!format!("{error} {error:?}").contains("very-secret"));
    }
}

#[tokio::test]
async fn broken_streams_have_their_kind() {
    let overloaded =
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } });
    let rows = [
        (
            Reply::events(&[start(), text("half"), overloaded]),
            ModelErrorKind::Unavailable,
        ),
        (
            Reply::events(&[start(), text("half")]),
            ModelErrorKind::Truncated,
        ),
        (
            Reply::events(&[start(), text("half")]).cut(),
            ModelErrorKind::Truncated,
        ),
        (
            Reply::events(&[start(), text("half"), json!([])]).at_once(),
            ModelErrorKind::Protocol,
        ),
        (
            Reply::stream(format!("data: {}\n\ndata: {{\n\n", text("half"))),
            ModelErrorKind::Protocol,
        ),
    ];
    for (reply, kind) in rows {
        let outcome = ask(&provider(&Server::start(reply).await)).await;
        assert_eq!(
            (outcome.text.as_str(), outcome.error.unwrap().kind),
            ("half", kind)
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_connection_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = fails(&Anthropic::compatible(&url, KEY).unwrap()).await;
    assert_eq!(error.kind, ModelErrorKind::Connection);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = Server::start(Reply::events(&[start(), text("first")]).hang()).await;
    let mut stream = provider(&server).stream(conversation()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    assert!(server.stopped().await);
}
