//! `OpenAI`'s two APIs, on a real HTTP server.

use std::time::Duration;

use crate::support::{Reply, Server, ask, conversation, fails, usage};
use everruns_core::model::{Message, ModelErrorKind, ModelProvider as _, StopReason};
use everruns_models::OpenAI;
use futures::StreamExt as _;
use serde_json::{Value, json};

const KEY: &str = "sk-test-very-secret";

fn responses(server: &Server) -> OpenAI {
    chat(server).with_responses()
}

fn chat(server: &Server) -> OpenAI {
    OpenAI::compatible(format!("{}/v1/", server.url), KEY).unwrap()
}

fn text(delta: &str) -> Value {
    json!({ "type": "response.output_text.delta", "output_index": 0, "delta": delta })
}

fn completed(output: &Value) -> Value {
    let usage = json!({ "input_tokens": 30, "input_tokens_details": { "cached_tokens": 20 }, "output_tokens": 5 });
    json!({ "type": "response.completed", "response": { "id": "r", "status": "completed", "output": output, "usage": usage } })
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({ "id": "x", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}

#[tokio::test]
async fn responses_streams_text_and_usage() {
    let server = Server::start(Reply::events(&[
        json!({ "type": "response.created", "response": { "id": "r" } }),
        json!({ "type": "response.reasoning_summary_text.delta", "delta": "hm" }),
        text("Grüße"),
        text(" und 你好"),
        completed(&json!([{ "type": "message", "content": [{ "type": "output_text", "text": "Grüße und 你好" }] }])),
    ]))
    .await;
    let outcome = ask(&responses(&server)).await;
    assert_eq!(
        (
            outcome.text.as_str(),
            outcome.deltas,
            outcome.reasoning.as_str()
        ),
        ("Grüße und 你好", 2, "hm")
    );
    assert_eq!(outcome.end, Some((StopReason::EndTurn, usage(30, 20, 5))));
}

#[tokio::test]
async fn responses_joins_parallel_calls_whose_arguments_come_in_pieces() {
    let added = |index: u64, id: &str| {
        json!({ "type": "response.output_item.added", "output_index": index,
        "item": { "type": "function_call", "call_id": id, "name": "read_file", "arguments": "" } })
    };
    let piece = |index: u64, delta: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": index, "delta": delta });
    let done = |index: u64, item: Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let whole = json!({ "type": "function_call", "call_id": "b", "name": "read_file", "arguments": "{\"path\":\"2\"}" });
    let server = Server::start(Reply::events(&[
        added(0, "a"),
        added(1, "b"),
        piece(0, "{\"pa"),
        piece(1, "{\"path\":"),
        piece(0, "th\":\"1\"}"),
        piece(1, "\"2\"}"),
        done(0, json!({ "type": "function_call" })),
        done(1, whole.clone()),
        completed(&json!([whole])),
    ]))
    .await;
    let outcome = ask(&responses(&server)).await;
    assert_eq!(
        outcome.calls(),
        [
            ("a", "read_file", json!({ "path": "1" })),
            ("b", "read_file", json!({ "path": "2" }))
        ]
    );
    assert_eq!(outcome.end.unwrap().0, StopReason::ToolCalls);
}

#[tokio::test]
async fn responses_takes_from_the_end_what_did_not_come_before() {
    let call = json!({ "type": "function_call", "call_id": "a", "name": "grep", "arguments": "" });
    let whole =
        json!({ "type": "function_call", "call_id": "b", "name": "grep", "arguments": "not json" });
    let message =
        json!({ "type": "message", "content": [{ "type": "output_text", "text": "Hi" }] });
    let server = Server::start(Reply::events(&[
        json!({ "type": "response.output_item.added", "output_index": 0, "item": call }),
        completed(&json!([message, whole])),
    ]))
    .await;
    let outcome = ask(&responses(&server)).await;
    assert_eq!(outcome.text, "Hi");
    assert_eq!(
        outcome.calls(),
        [("b", "grep", json!("not json")), ("a", "grep", json!({}))]
    );
}

#[tokio::test]
async fn responses_says_why_an_answer_was_cut_short() {
    for (reason, stop) in [
        ("max_output_tokens", StopReason::MaxTokens),
        ("content_filter", StopReason::ContentFilter),
    ] {
        let server = Server::start(Reply::events(&[
            json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "function_call", "call_id": "a", "name": "x" } }),
            json!({ "type": "response.incomplete", "response": { "incomplete_details": { "reason": reason } } }),
        ]))
        .await;
        let outcome = ask(&responses(&server)).await;
        assert_eq!((outcome.end.unwrap().0, outcome.calls.len()), (stop, 0));
    }
}

#[tokio::test]
async fn responses_failures_within_the_stream_have_their_kind() {
    let failed = |code: &str| json!({ "type": "response.failed", "response": { "error": { "code": code, "message": "because" } } });
    let rows = [
        (failed("rate_limit_exceeded"), ModelErrorKind::RateLimited),
        (failed("server_error"), ModelErrorKind::Unavailable),
        (
            failed("context_length_exceeded"),
            ModelErrorKind::ContextTooLong,
        ),
        (failed("invalid_prompt"), ModelErrorKind::InvalidRequest),
        (
            json!({ "type": "error", "code": "server_error", "message": "because" }),
            ModelErrorKind::Unavailable,
        ),
    ];
    for (event, kind) in rows {
        let server = Server::start(Reply::events(&[text("half"), event.clone()])).await;
        let outcome = ask(&responses(&server)).await;
        let error = outcome.error.unwrap();
        assert_eq!(
            (outcome.text.as_str(), error.kind),
            ("half", kind),
            "{event}"
        );
        assert!(error.to_string().ends_with(": because"), "{error}");
    }
}

#[tokio::test]
async fn responses_writes_the_conversation_and_the_key() {
    let server = Server::start(Reply::events(&[completed(&json!([]))])).await;
    ask(&responses(&server)).await;
    let seen = server.seen();
    assert_eq!(seen.path, "/v1/responses");
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(
        seen.body,
        json!({
            "model": "gpt-5.6-terra",
            "instructions": "Be brief.",
            "stream": true,
            "store": false,
            "input": [
                { "role": "user", "content": "Read both." },
                { "role": "assistant", "content": "I look." },
                { "type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{\"path\":\"a\"}" },
                { "type": "function_call", "call_id": "c2", "name": "read_file", "arguments": "{\"path\":\"b\"}" },
                { "type": "function_call_output", "call_id": "c1", "output": "result of c1" },
                { "type": "function_call_output", "call_id": "c2", "output": "result of c2" },
            ],
            "tools": [{
                "type": "function",
                "name": "read_file",
                "description": "Reads.",
                "parameters": { "type": "object", "properties": { "path": { "type": "string" } } },
                "strict": false,
            }],
        })
    );
}

#[tokio::test]
async fn chat_streams_text_reasoning_and_usage() {
    let server = Server::start(
        Reply::events(&[
            chunk(&json!({ "role": "assistant", "content": "" }), None),
            chunk(&json!({ "reasoning_content": "hm" }), None),
            chunk(&json!({ "content": "Hel" }), None),
            chunk(&json!({ "content": "lo" }), None),
            chunk(&json!({}), Some("stop")),
            json!({ "choices": [], "usage": { "prompt_tokens": 9, "prompt_tokens_details": { "cached_tokens": 4 }, "completion_tokens": 2 } }),
        ])
        .with_done(),
    )
    .await;
    let outcome = ask(&chat(&server)).await;
    assert_eq!(
        (
            outcome.text.as_str(),
            outcome.deltas,
            outcome.reasoning.as_str()
        ),
        ("Hello", 2, "hm")
    );
    assert_eq!(outcome.end, Some((StopReason::EndTurn, usage(9, 4, 2))));
}

#[tokio::test]
async fn chat_joins_parallel_calls_whose_arguments_come_in_pieces() {
    let first = |index: u64, id: &str| json!({ "index": index, "id": id, "type": "function", "function": { "name": "read_file", "arguments": "" } });
    let piece =
        |index: u64, text: &str| json!({ "index": index, "function": { "arguments": text } });
    let server = Server::start(
        Reply::events(&[
            chunk(
                &json!({ "tool_calls": [first(0, "a"), first(1, "b")] }),
                None,
            ),
            chunk(
                &json!({ "tool_calls": [piece(0, "{\"path\""), piece(1, "{\"path\":\"2\"")] }),
                None,
            ),
            chunk(&json!({ "tool_calls": [piece(0, ":\"1\"}")] }), None),
            chunk(&json!({ "tool_calls": [piece(1, "}")] }), None),
            // Some servers say `stop` here.
            chunk(&json!({}), Some("stop")),
        ])
        .with_done(),
    )
    .await;
    let outcome = ask(&chat(&server)).await;
    assert_eq!(
        outcome.calls(),
        [
            ("a", "read_file", json!({ "path": "1" })),
            ("b", "read_file", json!({ "path": "2" }))
        ]
    );
    assert_eq!(outcome.end.unwrap().0, StopReason::ToolCalls);
}

#[tokio::test]
async fn chat_does_not_make_a_call_that_the_output_limit_cut_off() {
    let call = |index: u64, text: &str| json!({ "index": index, "id": format!("c{index}"), "function": { "name": "x", "arguments": text } });
    let server = Server::start(
        Reply::events(&[
            chunk(
                &json!({ "tool_calls": [call(0, "{\"a\":1}"), call(1, "{\"a\":")] }),
                None,
            ),
            chunk(&json!({}), Some("length")),
        ])
        .with_done(),
    )
    .await;
    let outcome = ask(&chat(&server)).await;
    assert_eq!(
        (outcome.calls.len(), outcome.end.unwrap().0),
        (1, StopReason::MaxTokens)
    );
}

#[tokio::test]
async fn chat_without_done_is_whole_when_it_says_why_it_finished() {
    let server = Server::start(Reply::events(&[chunk(
        &json!({ "content": "Hi" }),
        Some("stop"),
    )]))
    .await;
    let outcome = ask(&chat(&server)).await;
    assert_eq!(
        (outcome.text.as_str(), outcome.end.unwrap().0),
        ("Hi", StopReason::EndTurn)
    );
}

#[tokio::test]
async fn chat_writes_the_conversation() {
    let server = Server::start(Reply::events(&[chunk(&json!({}), Some("stop"))])).await;
    ask(&chat(&server)).await;
    let seen = server.seen();
    assert_eq!(seen.path, "/v1/chat/completions");
    let call = |id: &str, path: &str| {
        let arguments = json!({ "path": path }).to_string();
        json!({ "id": id, "type": "function", "function": { "name": "read_file", "arguments": arguments } })
    };
    assert_eq!(
        seen.body["messages"],
        json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Read both." },
            { "role": "assistant", "content": "I look.", "tool_calls": [call("c1", "a"), call("c2", "b")] },
            { "role": "tool", "tool_call_id": "c1", "content": "result of c1" },
            { "role": "tool", "tool_call_id": "c2", "content": "result of c2" },
        ])
    );
    assert_eq!(seen.body["tools"][0]["function"]["name"], "read_file");
    assert_eq!(seen.body["stream_options"]["include_usage"], true);
}

/// An answer in which the model said and called nothing has no form that every server takes.
#[tokio::test]
async fn an_empty_answer_is_not_written() {
    let server = Server::start(Reply::events(&[chunk(&json!({}), Some("stop"))])).await;
    let mut request = conversation();
    request.messages = vec![
        Message::user("One."),
        Message::assistant(""),
        Message::user("Two."),
    ]
    .into();
    request.instructions.clear();
    let written =
        json!([{ "role": "user", "content": "One." }, { "role": "user", "content": "Two." }]);
    drop(chat(&server).stream(request.clone()).await.unwrap());
    assert_eq!(server.seen().body["messages"], written);
    drop(responses(&server).stream(request).await.unwrap());
    assert_eq!(server.seen().body["input"], written);
}

#[tokio::test]
async fn a_hostile_index_and_a_call_without_a_name_are_harmless() {
    let call = |index: u64| json!({ "index": index, "id": "c", "function": { "name": "x", "arguments": "{}" } });
    let server = Server::start(Reply::events(&[chunk(
        &json!({ "tool_calls": [call(u64::MAX)] }),
        Some("tool_calls"),
    )]))
    .await;
    assert_eq!(ask(&chat(&server)).await.calls.len(), 1);

    let many: Vec<Value> = (0..2_000).map(call).collect();
    let server = Server::start(Reply::events(&[chunk(
        &json!({ "tool_calls": many }),
        None,
    )]))
    .await;
    assert_eq!(fails(&chat(&server)).await.kind, ModelErrorKind::Protocol);

    let nameless = json!({ "index": 0, "function": { "arguments": "{}" } });
    let server = Server::start(Reply::events(&[chunk(
        &json!({ "tool_calls": [nameless] }),
        Some("tool_calls"),
    )]))
    .await;
    assert_eq!(fails(&chat(&server)).await.kind, ModelErrorKind::Protocol);
}

#[tokio::test]
async fn refusals_have_their_kind_and_never_show_the_key() {
    let error =
        |code: &str| json!({ "error": { "code": code, "message": format!("bad key {KEY}") } });
    let rows = [
        (
            401,
            "invalid_api_key",
            ModelErrorKind::Authentication,
            false,
        ),
        (
            400,
            "context_length_exceeded",
            ModelErrorKind::ContextTooLong,
            false,
        ),
        (400, "invalid_value", ModelErrorKind::InvalidRequest, false),
        (
            404,
            "model_not_found",
            ModelErrorKind::InvalidRequest,
            false,
        ),
        (
            429,
            "insufficient_quota",
            ModelErrorKind::InvalidRequest,
            false,
        ),
        (500, "server_error", ModelErrorKind::Unavailable, true),
        (503, "", ModelErrorKind::Unavailable, true),
    ];
    for (status, code, kind, retryable) in rows {
        let server = Server::start(Reply::status(status, &error(code))).await;
        for provider in [responses(&server), chat(&server)] {
            let error = fails(&provider).await;
            assert_eq!(
                (error.kind, error.is_retryable()),
                (kind, retryable),
                "{status} {code}"
            );
            let shown = format!("{error} {error:?} {provider:?}");
            assert!(!shown.contains("very-secret"), "{shown}");
            assert!(error.to_string().contains("bad key [key]"), "{error}");
        }
        assert_eq!(server.requests(), 2, "nothing is tried again here");
    }
}

#[tokio::test]
async fn too_many_requests_say_how_long_to_wait() {
    let body = json!({ "error": { "message": "slow down", "code": "rate_limit_exceeded" } });
    for (header, value, wait) in [("retry-after", "7", 7_000), ("retry-after-ms", "250", 250)] {
        let server = Server::start(Reply::status(429, &body).with_header(header, value)).await;
        let error = fails(&responses(&server)).await;
        assert_eq!(
            (error.kind, error.retry_after),
            (
                ModelErrorKind::RateLimited,
                Some(Duration::from_millis(wait))
            )
        );
    }
    for nonsense in ["soon", "-1", "1e400", "NaN"] {
        let server =
            Server::start(Reply::status(429, &body).with_header("retry-after", nonsense)).await;
        assert_eq!(
            fails(&responses(&server)).await.retry_after,
            None,
            "{nonsense}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_connection_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let error = fails(&OpenAI::compatible(&url, KEY).unwrap()).await;
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn a_cut_stream_is_truncated_and_not_an_end() {
    for reply in [
        Reply::events(&[text("half")]),
        Reply::events(&[text("half")]).cut(),
        Reply::stream(format!("data: {}\n\ndata: {{\"ty", text("half"))),
    ] {
        let server = Server::start(reply).await;
        let outcome = ask(&responses(&server)).await;
        assert_eq!(
            (outcome.text.as_str(), outcome.error.unwrap().kind),
            ("half", ModelErrorKind::Truncated)
        );
    }
    let server =
        Server::start(Reply::events(&[chunk(&json!({ "content": "half" }), None)]).cut()).await;
    assert_eq!(fails(&chat(&server)).await.kind, ModelErrorKind::Truncated);
}

#[tokio::test]
async fn what_is_not_understood_is_a_protocol_error() {
    let bodies = ["data: {\"type\":\n\n", "data: []\n\n", "data: \"x\"\n\n"];
    for body in bodies {
        let server = Server::start(Reply::stream(body)).await;
        for provider in [responses(&server), chat(&server)] {
            assert_eq!(
                fails(&provider).await.kind,
                ModelErrorKind::Protocol,
                "{body}"
            );
        }
    }
    let page = Reply::stream("<html>Log in</html>").with_header("content-type", "text/html");
    let error = fails(&responses(&Server::start(page).await)).await;
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.to_string().contains("text/html"), "{error}");
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key_elsewhere() {
    let other = Server::start(Reply::events(&[completed(&json!([]))])).await;
    let server =
        Server::start(Reply::status(307, &json!({})).with_header("location", &other.url)).await;
    assert_eq!(
        fails(&responses(&server)).await.kind,
        ModelErrorKind::InvalidRequest
    );
    assert_eq!(other.requests(), 0);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = Server::start(Reply::events(&[text("first")]).hang()).await;
    let mut stream = responses(&server).stream(conversation()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    assert!(server.stopped().await);
}
