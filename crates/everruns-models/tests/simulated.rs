//! The scripted model: steps, streams, failures, ids.

use std::time::{Duration, Instant};

use everruns_core::model::{
    Message, ModelError, ModelErrorKind, ModelEvent, ModelProvider as _, ModelRequest, StopReason,
    ToolCall, Usage,
};
use everruns_models::{Simulated, SimulatedStep};
use futures::StreamExt as _;
use serde_json::json;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "simulated".into(),
        instructions: "Play.".into(),
        messages: messages.into(),
        tools: Vec::new().into(),
    }
}

async fn ask(model: &Simulated) -> Result<Vec<Result<ModelEvent, ModelError>>, ModelError> {
    let stream = model.stream(request(vec![Message::user("go")])).await?;
    Ok(stream.collect().await)
}

fn text(events: &[Result<ModelEvent, ModelError>]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        Ok(ModelEvent::TextDelta(text)) => Some(text.as_str()),
        _ => None,
    });
    deltas.collect()
}

fn calls(events: &[Result<ModelEvent, ModelError>]) -> Vec<ToolCall> {
    let calls = events.iter().filter_map(|event| match event {
        Ok(ModelEvent::ToolCall(call)) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

fn stop(events: &[Result<ModelEvent, ModelError>]) -> Option<StopReason> {
    match events.last() {
        Some(Ok(ModelEvent::End { stop, .. })) => Some(*stop),
        _ => None,
    }
}

#[tokio::test]
async fn steps_are_played_in_order_and_text_comes_in_several_deltas() {
    let usage = Usage {
        input_tokens: 7,
        cached_input_tokens: 2,
        output_tokens: 3,
    };
    let model = Simulated::new()
        .then(
            SimulatedStep::new()
                .reason("hm")
                .say("Grüße, ich schaue nach.")
                .call("read_file", json!({"path": "a"}))
                .usage(usage),
        )
        .calls([("grep", json!({})), ("list_directory", json!({}))])
        .say("Done.");

    let first = ask(&model).await.unwrap();
    assert_eq!(text(&first), "Grüße, ich schaue nach.");
    assert!(first.len() >= 6, "{first:?}");
    assert!(matches!(&first[0], Ok(ModelEvent::ReasoningDelta(_))));
    assert_eq!(calls(&first)[0].name, "read_file");
    assert!(matches!(
        first.last(),
        Some(Ok(ModelEvent::End { stop: StopReason::ToolCalls, usage: reported })) if *reported == usage
    ));

    let second = ask(&model).await.unwrap();
    assert_eq!(calls(&second).len(), 2);
    let third = ask(&model).await.unwrap();
    assert_eq!(
        (text(&third).as_str(), stop(&third)),
        ("Done.", Some(StopReason::EndTurn))
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_used_up_script_is_an_error_that_says_so() {
    let model = Simulated::new().say("only");
    ask(&model).await.unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::InvalidRequest);
    assert!(error.to_string().contains("used up"), "{error}");
    assert!(!error.is_retryable());
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_repeated_script_starts_over() {
    let model = Simulated::new().say("a").say("b").repeat();
    let mut said = String::new();
    for _ in 0..5 {
        said.push_str(&text(&ask(&model).await.unwrap()));
    }
    assert_eq!(said, "ababa");
}

#[tokio::test]
async fn clones_share_the_script() {
    let model = Simulated::new().say("a").say("b");
    let twin = model.clone();
    assert_eq!(text(&ask(&twin).await.unwrap()), "a");
    assert_eq!(text(&ask(&model).await.unwrap()), "b");
    assert_eq!((twin.remaining(), twin.requests().len()), (0, 2));
}

#[tokio::test]
async fn call_ids_are_unique_even_in_a_conversation_of_an_earlier_process() {
    let model = Simulated::new()
        .calls([("a", json!({})), ("b", json!({}))])
        .call("c", json!({}));
    let mut all = calls(&ask(&model).await.unwrap());
    all.extend(calls(&ask(&model).await.unwrap()));
    let ids: Vec<_> = all.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);

    let earlier = Message::Assistant {
        text: String::new(),
        tool_calls: all,
    };
    let later = Simulated::new().call("d", json!({}));
    let stream = later.stream(request(vec![earlier])).await.unwrap();
    let events: Vec<_> = stream.collect().await;
    assert_eq!(calls(&events)[0].id, "call_4");
}

#[tokio::test]
async fn failures_come_at_once_or_behind_the_text() {
    let wait = Duration::from_secs(3);
    let model = Simulated::new()
        .fail(ModelErrorKind::Unavailable)
        .then(
            SimulatedStep::new()
                .fail(ModelErrorKind::RateLimited)
                .retry_after(wait),
        )
        .then(
            SimulatedStep::new()
                .say("half")
                .fail(ModelErrorKind::Connection),
        );
    let error = ask(&model).await.unwrap_err();
    assert_eq!(
        (error.kind, error.is_retryable()),
        (ModelErrorKind::Unavailable, true)
    );
    let error = ask(&model).await.unwrap_err();
    assert_eq!(
        (error.kind, error.retry_after),
        (ModelErrorKind::RateLimited, Some(wait))
    );
    let events = ask(&model).await.unwrap();
    assert_eq!(text(&events), "half");
    assert_eq!(
        events.last().unwrap().as_ref().unwrap_err().kind,
        ModelErrorKind::Connection
    );
}

#[tokio::test]
async fn a_truncated_step_has_no_end() {
    let model = Simulated::new().say("cut off").truncate();
    let events = ask(&model).await.unwrap();
    assert_eq!((text(&events).as_str(), stop(&events)), ("cut off", None));
}

#[tokio::test]
async fn a_delayed_step_waits_and_stops_when_dropped() {
    let model = Simulated::new()
        .say("late")
        .delay(Duration::from_millis(60))
        .say("never")
        .delay(Duration::from_hours(1));
    let begin = Instant::now();
    ask(&model).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(60));
    let abandoned = tokio::time::timeout(Duration::from_millis(20), ask(&model)).await;
    assert!(abandoned.is_err());
}

#[tokio::test]
async fn an_answer_can_be_made_from_the_request() {
    let model = Simulated::new()
        .respond_with(|request| {
            SimulatedStep::new().say(format!("{} messages", request.messages.len()))
        })
        .repeat();
    assert_eq!(text(&ask(&model).await.unwrap()), "1 messages");
}
