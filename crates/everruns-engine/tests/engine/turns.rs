//! The turn loop.

use std::sync::Arc;

use everruns_core::model::{Message, ModelErrorKind, StopReason};
use everruns_core::session::{
    EventPayload, LeaseOwner, SessionQuery, SessionStore, StoreError, ToolOutcome, TurnOutcome,
};
use everruns_engine::{Engine, InMemorySessionStore, SessionError};
use serde_json::json;
use tokio::sync::{Barrier, Notify};

use crate::support::{
    Blocking, Echo, Panicking, Script, Step, Watched, agent, agent_of, engine_over, kinds,
    recorded, rob,
};

#[tokio::test]
async fn a_turn_without_tools() {
    let script = Script::new([Step::Say("Hello.")]);
    let session = Engine::new().create(agent(&script));
    let turn = session.send_and_wait("Say hello.").await.unwrap();
    assert!(turn.success);
    assert_eq!(turn.response, "Hello.");
    assert_eq!((turn.iterations, turn.tool_calls), (1, 0));
    assert_eq!(turn.usage.output_tokens, 5);
    assert_eq!(
        kinds(&session).await,
        [
            "session_started",
            "user_message",
            "turn_started",
            "assistant_message",
            "turn_ended"
        ]
    );
}

#[tokio::test]
async fn a_turn_with_tools_and_a_second_turn_that_knows_of_it() {
    let script = Script::new([
        Step::Call(vec![("echo", json!({"a": 1}))]),
        Step::Say("Done."),
        Step::Say("Again."),
    ]);
    let session = Engine::new().create(agent_of(&script).tool(Echo::default()).build().unwrap());
    let turn = session.send_and_wait("Echo.").await.unwrap();
    assert_eq!((turn.iterations, turn.tool_calls), (2, 1));
    assert_eq!(script.last_output(), r#"{"a":1}"#);
    session.send_and_wait("Once more.").await.unwrap();
    let told = script.requests().pop().unwrap().messages;
    assert_eq!(told.len(), 5);
    assert_eq!(told.last(), Some(&Message::user("Once more.")));
}

#[tokio::test]
async fn read_only_calls_run_at_once() {
    let script = Script::new([Step::Call(vec![("echo", json!({})), ("echo", json!({}))])]);
    let echo = Echo {
        together: Some(Arc::new(Barrier::new(2))),
    };
    let session = Engine::new().create(agent_of(&script).tool(echo).build().unwrap());
    let turn = session.send_and_wait("Echo twice.").await.unwrap();
    assert_eq!(turn.tool_calls, 2);
}

#[tokio::test]
async fn unknown_tools_bad_arguments_and_crashes_are_told_to_the_model() {
    let script = Script::new([
        Step::Call(vec![
            ("nothing", json!({})),
            ("echo", json!("{not json")),
            ("panic", json!({})),
        ]),
        Step::Say("I see."),
    ]);
    let agent = agent_of(&script).tool(Echo::default()).tool(Panicking);
    let session = Engine::new().create(agent.build().unwrap());
    let turn = session.send_and_wait("Go wrong.").await.unwrap();
    assert!(turn.success);
    let outputs: Vec<_> = recorded(&session)
        .await
        .into_iter()
        .filter_map(|event| match event {
            EventPayload::ToolResult {
                output, outcome, ..
            } => Some((output, outcome)),
            _ => None,
        })
        .collect();
    assert!(
        outputs
            .iter()
            .all(|(_, outcome)| *outcome == ToolOutcome::Failed)
    );
    assert!(outputs[0].0.contains("There is no tool `nothing`"));
    assert!(outputs[1].0.contains("no JSON object"));
    assert!(outputs[2].0.contains("crashed"));
}

#[tokio::test(start_paused = true)]
async fn passing_failures_are_retried_and_broken_answers_are_void() {
    let script = Script::new([
        Step::Fail(ModelErrorKind::Unavailable),
        Step::Cut("half an ans"),
        Step::Say("The answer."),
    ]);
    let session = Engine::new().create(agent(&script));
    let turn = session.send_and_wait("Answer.").await.unwrap();
    assert_eq!(turn.response, "The answer.");
    assert_eq!(turn.iterations, 1);
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn a_refused_request_is_a_turn_without_success() {
    let script = Script::new([Step::Fail(ModelErrorKind::Authentication), Step::Say("Hi.")]);
    let session = Engine::new().create(agent(&script));
    let turn = session.send_and_wait("Hello.").await.unwrap();
    assert!(!turn.success);
    assert!(matches!(turn.outcome, TurnOutcome::Failed { .. }));
    assert_eq!(turn.error.unwrap().kind, ModelErrorKind::Authentication);
    assert!(session.send_and_wait("And now?").await.unwrap().success);
}

#[tokio::test]
async fn the_limit_ends_a_turn_that_would_not_end() {
    let call = || Step::Call(vec![("echo", json!({}))]);
    let script = Script::new([call(), call(), call()]);
    let agent = agent_of(&script).tool(Echo::default()).max_iterations(2);
    let session = Engine::new().create(agent.build().unwrap());
    let turn = session.send_and_wait("For ever.").await.unwrap();
    assert_eq!(turn.outcome, TurnOutcome::LimitReached);
    assert!(!turn.success);
    assert_eq!(script.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_cut_by_its_limit_is_no_success() {
    let script = Script::new([Step::Stop("And th", StopReason::MaxTokens)]);
    let session = Engine::new().create(agent(&script));
    let turn = session.send_and_wait("Tell all.").await.unwrap();
    assert_eq!(turn.outcome, TurnOutcome::Completed);
    assert!(!turn.success);
}

#[tokio::test]
async fn a_message_during_a_turn_steers_it() {
    let go = Arc::new(Notify::new());
    let script = Script::new([
        Step::When(Arc::clone(&go), "First answer."),
        Step::Say("Second answer."),
    ]);
    let session = Engine::new().create(agent(&script));
    let first = session.send("Begin.").await.unwrap();
    let second = session.send("Also this.").await.unwrap();
    assert_eq!(first.number(), second.number());
    go.notify_one();
    let turn = first.await.unwrap();
    assert_eq!(turn.response, "Second answer.");
    assert_eq!(second.await.unwrap().number, turn.number);
    let told = script.requests().pop().unwrap().messages;
    assert_eq!(
        told,
        [
            Message::user("Begin."),
            Message::assistant("First answer."),
            Message::user("Also this.")
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_messages_at_once_are_all_answered() {
    let script = Script::new((0..64).map(|_| Step::Say("Yes.")));
    let session = Engine::new().create(agent(&script));
    let sent = (0..32).map(|number| {
        let session = session.clone();
        tokio::spawn(async move { session.send_and_wait(format!("{number}")).await })
    });
    for turn in futures::future::join_all(sent).await {
        assert!(turn.unwrap().unwrap().success);
    }
    session.send_and_wait("last").await.unwrap();
    let told = script.requests().pop().unwrap().messages;
    let said = told
        .iter()
        .filter(|message| matches!(message, Message::User { .. }));
    assert_eq!(said.count(), 33);
}

#[tokio::test]
async fn cancelling_stops_the_model_and_keeps_what_it_said() {
    let script = Script::new([Step::Hang("I was about to"), Step::Say("Yes.")]);
    let session = Engine::new().create(agent(&script));
    assert!(!session.cancel().await);
    let turn = session.send("Talk.").await.unwrap();
    while script.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(session.cancel().await);
    let turn = turn.await.unwrap();
    assert_eq!(turn.outcome, TurnOutcome::Cancelled);
    assert!(
        session
            .send_and_wait("Are you there?")
            .await
            .unwrap()
            .success
    );
}

#[tokio::test]
async fn cancelling_stops_tools_and_says_so() {
    let block = Blocking::default();
    let script = Script::new([
        Step::Call(vec![("block", json!({})), ("echo", json!({}))]),
        Step::Say("Fine."),
    ]);
    let agent = agent_of(&script).tool(block.clone()).tool(Echo::default());
    let session = Engine::new().create(agent.build().unwrap());
    let turn = session.send("Block.").await.unwrap();
    block.begun.notified().await;
    assert!(session.cancel().await);
    assert_eq!(turn.await.unwrap().outcome, TurnOutcome::Cancelled);
    let outcomes: Vec<_> = recorded(&session)
        .await
        .into_iter()
        .filter_map(|event| match event {
            EventPayload::ToolResult {
                outcome, output, ..
            } => Some((outcome, output.contains("before this call"))),
            _ => None,
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            (ToolOutcome::Cancelled, false),
            (ToolOutcome::Cancelled, true)
        ]
    );
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
}

#[tokio::test]
async fn an_empty_message_is_refused_and_records_nothing() {
    let session = Engine::new().create(agent(&Script::default()));
    let refused = session.send("  ").await;
    assert!(matches!(refused, Err(SessionError::EmptyMessage)));
    assert_eq!(kinds(&session).await, ["session_started"]);
}

/// Proves H70: an append whose answer is lost is repeated with its key, and applied once.
#[tokio::test(start_paused = true)]
async fn h70_a_lost_answer_of_the_store_doubles_nothing() {
    let store = Watched::new();
    let engine = engine_over(&(Arc::clone(&store) as Arc<dyn SessionStore>));
    let script = Script::new([Step::Say("Once.")]);
    let session = engine.create(agent(&script));
    session.start().await.unwrap();
    store.lose_answers(3);
    assert!(session.send_and_wait("Say it.").await.unwrap().success);
    assert_eq!(
        kinds(&session).await,
        [
            "session_started",
            "user_message",
            "turn_started",
            "assistant_message",
            "turn_ended"
        ]
    );
}

/// A store that stays away breaks the turn off; what it has is read before the next one.
#[tokio::test(start_paused = true)]
async fn h70_a_store_that_stays_away_breaks_the_turn_off_and_nothing_else() {
    let store = Watched::new();
    let engine = engine_over(&(Arc::clone(&store) as Arc<dyn SessionStore>));
    let script = Script::new([Step::Say("First."), Step::Say("Second.")]);
    let session = engine.create(agent(&script));
    session.start().await.unwrap();
    store.lose_answers(1_000);
    assert!(session.send("Say it.").await.is_err());
    store.lose_answers(0);
    assert!(session.send_and_wait("And now?").await.unwrap().success);
    assert_eq!(
        kinds(&session).await,
        [
            "session_started",
            "user_message",
            "turn_started",
            "turn_ended",
            "user_message",
            "turn_started",
            "assistant_message",
            "turn_ended"
        ]
    );
}

#[tokio::test]
async fn a_provider_that_panics_breaks_off_its_turn_alone() {
    let script = Script::new([Step::Panic, Step::Say("Fine.")]);
    let session = Engine::new().create(agent(&script));
    let broken = session.send_and_wait("Panic.").await.unwrap_err();
    assert!(
        matches!(broken, SessionError::TurnAborted { .. }),
        "{broken}"
    );
    assert!(session.send_and_wait("And now?").await.unwrap().success);
}

/// Somebody removes the session from the store while its turn runs, after its lease has run out unseen: the turn ends
/// with an error, and nothing of it comes back.
#[tokio::test]
async fn h55_a_turn_whose_session_is_deleted_leaves_nothing() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let engine = engine_over(&store);
    let go = Arc::new(Notify::new());
    let script = Script::new([
        Step::Say("First."),
        Step::When(Arc::clone(&go), "Nobody hears this."),
    ]);
    let session = engine.create(agent(&script));
    assert!(session.send_and_wait("One.").await.unwrap().success);
    let id = session.session_id().clone();
    let pending = session.send("Two.").await.unwrap();
    let somebody = LeaseOwner("somebody".into());
    let taken = rob(store.as_ref(), &id, &somebody).await;
    store.delete(&id, Some(taken.token)).await.unwrap();
    go.notify_one();
    let error = pending.wait().await.unwrap_err();
    assert!(error.to_string().contains("recorded here"), "{error}");
    assert!(matches!(
        store.session(&id).await,
        Err(StoreError::NotFound { .. })
    ));
    let error = session.send_and_wait("Three.").await.unwrap_err();
    assert!(error.to_string().contains("recorded here"), "{error}");
    let all = store.sessions(SessionQuery::default()).await.unwrap();
    assert!(all.sessions.is_empty(), "{all:?}");
}
