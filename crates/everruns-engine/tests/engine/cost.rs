//! What turns and resuming cost, counted and not timed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use everruns_core::model::{
    ModelError, ModelEvent, ModelProvider, ModelRequest, ModelStream, StopReason, ToolCall, Usage,
};
use everruns_core::session::SessionStore;
use everruns_engine::{Agent, Session};
use futures::{StreamExt as _, stream};
use serde_json::json;

use crate::support::{Echo, Script, Step, Watched, agent_of, engine_over};

/// Calls a tool and then says that it is done, again and again; keeps nothing.
#[derive(Clone, Debug)]
struct Diligent;

#[async_trait]
impl ModelProvider for Diligent {
    fn name(&self) -> &'static str {
        "diligent"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        use everruns_core::model::Message;
        let said = matches!(request.messages.last(), Some(Message::ToolResult { .. }));
        let (event, stop) = if said {
            (ModelEvent::TextDelta("Done.".into()), StopReason::EndTurn)
        } else {
            let call = ToolCall {
                id: format!("call-{}", request.messages.len()),
                name: "echo".into(),
                arguments: json!({}),
            };
            (ModelEvent::ToolCall(call), StopReason::ToolCalls)
        };
        let usage = Usage::default();
        let end = ModelEvent::End { stop, usage };
        Ok(stream::iter([Ok(event), Ok(end)]).boxed())
    }
}

fn agent() -> Agent {
    Agent::builder()
        .provider(Diligent)
        .model("m")
        .tool(Echo::default())
        .build()
        .unwrap()
}

async fn turns(session: &Session, count: u32) {
    for _ in 0..count {
        assert!(session.send_and_wait("Go on.").await.unwrap().success);
    }
}

/// What one turn asks of the store: the calls, and the rows read and written.
async fn one_turn(session: &Session, watched: &Watched) -> (Vec<&'static str>, [u32; 3]) {
    watched.forget_calls();
    turns(session, 1).await;
    (watched.calls(), watched.cost())
}

/// The clock stands still, so that the lease is neither given up nor renewed between two counts.
#[tokio::test(start_paused = true)]
async fn the_thousandth_turn_asks_the_store_for_what_the_tenth_did() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let session = engine_over(&store).create(agent());
    turns(&session, 9).await;
    let tenth = one_turn(&session, &watched).await;
    turns(&session, 989).await;
    let thousandth = one_turn(&session, &watched).await;
    assert_eq!(tenth, thousandth);
    assert_eq!(tenth.0, ["append"; 4], "four commits");
    assert_eq!(tenth.1, [0, 0, 6], "no read, six events");
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_calls_takes_two_commits() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let script = Script::new([Step::Say("First."), Step::Say("Second.")]);
    let session = engine_over(&store).create(agent_of(&script).build().unwrap());
    turns(&session, 1).await;
    let second = one_turn(&session, &watched).await;
    assert_eq!(second.0, ["append"; 2], "two commits");
}

/// At the pace of people, a session takes its lease for each turn and gives it up. Neither waits for the disk: see
/// `only_what_is_recorded_waits_for_the_disk` of the stores.
#[tokio::test(start_paused = true)]
async fn a_turn_after_a_while_takes_its_lease_besides() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let script = Script::new([Step::Say("First."), Step::Say("Second.")]);
    let session = engine_over(&store).create(agent_of(&script).build().unwrap());
    turns(&session, 1).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    watched.forget_calls();
    turns(&session, 1).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(watched.calls(), ["lease", "append", "append", "release"]);
}

#[tokio::test]
async fn resuming_reads_as_much_of_a_long_session_as_of_a_short_one() {
    let mut read = Vec::new();
    for length in [20, 2_000] {
        let watched = Watched::new();
        let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
        let engine = engine_over(&store);
        let session = engine.create(agent());
        turns(&session, length).await;
        session.close().await;
        let id = session.session_id().clone();
        drop(session);
        watched.forget_calls();
        let session = engine.resume(&id).await.unwrap();
        read.push((watched.cost(), watched.calls()));
        // The model is sent the whole conversation, which is read then, once.
        watched.forget_calls();
        turns(&session, 1).await;
        let events = 1 + length * 6;
        assert_eq!(watched.cost()[1], events + 3, "resumed, and the turn begun");
        assert_eq!(
            session.inspect().await.unwrap().turns,
            u64::from(length) + 1
        );
    }
    assert_eq!(read[0], read[1]);
    assert!(read[0].0[1] <= 32, "{read:?}");
}
