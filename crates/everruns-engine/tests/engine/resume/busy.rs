//! Sessions that someone else executes.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::Clock;
use everruns_core::model::Message;
use everruns_core::session::{EventPayload, LeaseOwner, Sequence};
use everruns_engine::{Engine, ResumeError, SessionError};
use serde_json::json;

use super::{agent_with, refused, resumed, store};
use crate::support::{
    Blocking, Script, SetClock, Step, Yielding, agent_of, engine_over, head, memory, rob,
};

/// A lease that ran out unnoticed while the handle was idle is taken back for the next turn.
#[tokio::test]
async fn an_idle_handle_takes_a_lost_lease_back() {
    let (store, backend) = (store(), memory());
    let script = Script::new([Step::Say("One."), Step::Say("Two.")]);
    let clock = Arc::new(SetClock::default());
    let engine = Engine::builder()
        .store(Arc::clone(&store))
        .clock(Arc::clone(&clock) as Arc<dyn Clock>)
        .build();
    let session = engine
        .create(agent_with(&script, &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("1").await.unwrap();
    // Within the time that an idle session keeps its lease, as if the process had slept.
    clock.set(Duration::from_hours(1));
    let other = LeaseOwner("the other".into());
    let taken = rob(store.as_ref(), session.session_id(), &other).await;
    store
        .release_lease(session.session_id(), taken.token)
        .await
        .unwrap();
    assert!(session.send_and_wait("2").await.unwrap().success);
}

/// Proves H53 for two engines: one executes, the other is told so.
#[tokio::test]
async fn h53_a_session_that_executes_elsewhere_is_busy() {
    let (store, backend) = (store(), memory());
    let block = Blocking::default();
    let script = Script::new([Step::Call(vec![("block", json!({}))])]);
    let agent = agent_of(&script)
        .tool(block.clone())
        .workspace_backend(Arc::clone(&backend))
        .build()
        .unwrap();
    let session = engine_over(&store)
        .create(agent)
        .workspace(head(&backend, "x").await);
    let turn = session.send("Block.").await.unwrap();
    block.begun.notified().await;
    let engine = engine_over(&store);
    engine.attach(
        session.session_id(),
        agent_with(&Script::default(), &backend),
    );
    let error = refused(&engine, session.session_id()).await;
    assert!(matches!(error, ResumeError::SessionBusy { .. }), "{error}");
    assert!(error.is_retryable());
    session.cancel().await;
    turn.await.unwrap();
    engine.resume(session.session_id()).await.unwrap();
}

/// Proves H53: the one that lost its lease is fenced off at its next write, and stops.
#[tokio::test]
async fn h53_the_stale_one_is_fenced_off() {
    let (store, backend) = (store(), memory());
    let go = Arc::new(tokio::sync::Notify::new());
    let script = Script::new([Step::When(Arc::clone(&go), "Too late.")]);
    let engine = Engine::builder()
        .store(Arc::clone(&store))
        .lease_duration(Duration::from_hours(1))
        .build();
    let session = engine
        .create(agent_with(&script, &backend))
        .workspace(head(&backend, "x").await);
    let turn = session.send("Think.").await.unwrap();
    // As if this process had slept for longer than its lease.
    let other = LeaseOwner("the other".into());
    rob(store.as_ref(), session.session_id(), &other).await;
    go.notify_one();
    let error = turn.await.unwrap_err();
    let SessionError::TurnAborted { source } = &error else {
        panic!("{error}");
    };
    assert!(
        matches!(**source, SessionError::TakenOver { .. }),
        "{source}"
    );
    let page = store
        .events(
            session.session_id(),
            everruns_core::session::EventQuery::after(Sequence::START, 100),
        )
        .await
        .unwrap();
    assert!(
        !page
            .events
            .iter()
            .any(|event| matches!(event.payload, EventPayload::AssistantMessage { .. }))
    );
}

/// A process that was stopped for longer than its lease runs goes on with its turn, if nobody has taken the session.
#[tokio::test(start_paused = true)]
async fn a_turn_goes_on_after_its_process_was_stopped() {
    let (store, backend) = (Yielding::store(), memory());
    let go = Arc::new(tokio::sync::Notify::new());
    let script = Script::new([Step::When(Arc::clone(&go), "Here I am.")]);
    let session = engine_over(&store)
        .create(agent_with(&script, &backend))
        .workspace(head(&backend, "x").await);
    let turn = session.send("Think.").await.unwrap();
    tokio::task::yield_now().await;
    tokio::time::advance(Duration::from_mins(5)).await;
    go.notify_one();
    assert!(turn.await.unwrap().success);
}

/// Proves H53: a lost lease is noticed while a tool runs, and the tool is stopped.
#[tokio::test]
async fn h53_a_lost_lease_stops_a_tool_that_runs() {
    let (store, backend) = (store(), memory());
    let block = Blocking::default();
    let script = Script::new([Step::Call(vec![("block", json!({}))])]);
    let agent = agent_of(&script).tool(block.clone()).build().unwrap();
    let engine = Engine::builder()
        .store(Arc::clone(&store))
        .lease_duration(Duration::from_millis(600))
        .build();
    let session = engine.create(agent).workspace(head(&backend, "x").await);
    let turn = session.send("Block.").await.unwrap();
    block.begun.notified().await;
    // As a process would take it that has not seen it renewed in time.
    let other = LeaseOwner("the other".into());
    rob(store.as_ref(), session.session_id(), &other).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), turn.wait()).await;
    let error = ended.unwrap().unwrap_err();
    assert!(
        matches!(&error, SessionError::TurnAborted { source }
            if matches!(**source, SessionError::TakenOver { .. })),
        "{error}"
    );
}

/// A handle that was idle while another engine went on with its session sees what happened there.
#[tokio::test]
async fn an_idle_handle_catches_up_with_another_engine() {
    let (store, backend) = (store(), memory());
    let script = Script::new([Step::Say("One."), Step::Say("Three.")]);
    let session = engine_over(&store)
        .create(agent_with(&script, &backend))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("1").await.unwrap();
    let elsewhere = Script::new([Step::Say("Two.")]);
    let other = resumed(&store, &backend, session.session_id(), &elsewhere).await;
    other.send_and_wait("2").await.unwrap();
    other.close().await;
    session.send_and_wait("3").await.unwrap();
    let told = script.requests().pop().unwrap().messages;
    assert_eq!(
        told,
        [
            Message::user("1"),
            Message::assistant("One."),
            Message::user("2"),
            Message::assistant("Two."),
            Message::user("3")
        ]
    );
}
