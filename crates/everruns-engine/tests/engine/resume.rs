//! Going on with a session in another process. A second engine over the same store and backend stands for it.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::{Clock, SystemClock};
use everruns_core::ids::SessionId;
use everruns_core::model::Message;
use everruns_core::session::{
    AgentSummary, AppendRequest, EventPayload, LeaseOwner, NewSession, Sequence, SessionStore,
    ToolOutcome, TurnOutcome,
};
use everruns_core::workspace::{BindingPayload, WorkspaceBackend, WorkspaceError};
use everruns_engine::{Agent, Engine, InMemorySessionStore, ResumeError, Session, SessionError};
use serde_json::json;

use crate::support::{
    Blocking, Echo, Script, SetClock, Step, Swapped, agent, agent_of, engine_over, head, memory,
    recorded,
};

fn store() -> Arc<dyn SessionStore> {
    Arc::new(InMemorySessionStore::new())
}

fn agent_with(script: &Script, backend: &Arc<dyn WorkspaceBackend>) -> Agent {
    agent_of(script)
        .tool(Echo::default())
        .workspace_backend(Arc::clone(backend))
        .build()
        .unwrap()
}

/// A session with one turn behind it, of an engine that is gone.
async fn used(store: &Arc<dyn SessionStore>, backend: &Arc<dyn WorkspaceBackend>) -> SessionId {
    let engine = engine_over(store);
    let script = Script::new([Step::Say("Noted.")]);
    let session = engine
        .create(agent_with(&script, backend))
        .workspace(head(backend, "feature").await);
    session
        .send_and_wait("Remember the number 7.")
        .await
        .unwrap();
    let id = session.session_id().clone();
    session.close().await;
    id
}

async fn refused(engine: &Engine, id: &SessionId) -> ResumeError {
    engine.resume(id).await.unwrap_err()
}

/// Proves C15 and C03: the same head, the same conversation.
#[tokio::test]
async fn c15_c03_a_session_goes_on_in_another_engine() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    let recorded_head = store.session(&id).await.unwrap().binding.unwrap().head_id;
    let engine = engine_over(&store);
    let script = Script::new([Step::Say("It is 7.")]);
    engine.attach(&id, agent_with(&script, &backend));
    let session = engine.resume(&id).await.unwrap();
    assert_eq!(*session.workspace_head().unwrap().id(), recorded_head);
    session.send_and_wait("Which number?").await.unwrap();
    assert_eq!(
        script.requests()[0].messages,
        [
            Message::user("Remember the number 7."),
            Message::assistant("Noted."),
            Message::user("Which number?")
        ]
    );
    let again = engine.resume(id).await.unwrap();
    assert_eq!(again.session_id(), session.session_id());
    assert_eq!(script.requests().len(), 1);
}

/// Proves C16: in the same engine the live environment's backend is remembered, without registration.
#[tokio::test]
async fn c16_the_backend_of_a_live_environment_is_remembered() {
    let engine = Engine::new();
    let script = Script::new([Step::Say("1"), Step::Say("2")]);
    let session = engine
        .create(agent(&script))
        .workspace(head(&memory(), "x").await);
    session.send_and_wait("One.").await.unwrap();
    let id = session.session_id().clone();
    drop(session);
    let session = engine.resume(&id).await.unwrap();
    assert!(session.send_and_wait("Two.").await.unwrap().success);

    // Another agent must have registered the backend itself.
    drop(session);
    engine.attach(&id, agent(&script));
    assert!(matches!(
        refused(&engine, &id).await,
        ResumeError::WorkspaceProviderUnavailable { .. } | ResumeError::HeadUnavailable { .. }
    ));
}

/// Proves C16 and C18: the agent's folder is registered by the framework.
#[tokio::test]
async fn c16_c18_the_agents_folder_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let store = store();
    let agent = |script: &Script| {
        agent_of(script)
            .workspace(folder.path())
            .state_folder(state.path())
            .build()
            .unwrap()
    };
    let session = engine_over(&store).create(agent(&Script::default()));
    session.start().await.unwrap();
    let id = session.session_id().clone();
    session.close().await;
    let engine = engine_over(&store);
    let script = Script::new([Step::Say("Here.")]);
    engine.attach(&id, agent(&script));
    let session = engine.resume(&id).await.unwrap();
    assert!(session.send_and_wait("Where?").await.unwrap().success);
}

#[tokio::test]
async fn c15_each_reason_is_its_own_error() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    let engine = engine_over(&store);
    let script = Script::default();

    let unknown = SessionId::new("ses_unknown").unwrap();
    let error = refused(&engine, &unknown).await;
    assert!(matches!(error, ResumeError::NotFound { .. }), "{error}");

    let error = refused(&engine, &id).await;
    assert!(
        matches!(error, ResumeError::AgentNotAttached { .. }),
        "{error}"
    );

    let unbound = SessionId::new("ses_unbound").unwrap();
    let row = NewSession {
        id: unbound.clone(),
        title: None,
        agent: AgentSummary::default(),
        created_at: SystemClock.now(),
    };
    store.create(row).await.unwrap();
    let error = refused(&engine, &unbound).await;
    assert!(matches!(error, ResumeError::NotBound { .. }), "{error}");
    insta::assert_snapshot!("resume_not_bound", error);

    // The engine's own memory backend has the recorded id and does not know the head: no other is made.
    engine.attach(&id, agent(&script));
    let error = refused(&engine, &id).await;
    assert!(
        matches!(
            error,
            ResumeError::HeadUnavailable {
                source: WorkspaceError::HeadNotFound { .. },
                ..
            }
        ),
        "{error}"
    );
    assert!(store.session(&id).await.unwrap().binding.is_some());
}

/// Proves C15 and C25: a backend that is not registered.
#[tokio::test]
async fn c15_c25_an_unregistered_backend_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let store = store();
    let first = agent_of(&Script::default())
        .workspace(folder.path())
        .state_folder(state.path());
    let session = engine_over(&store).create(first.build().unwrap());
    session.start().await.unwrap();
    let id = session.session_id().clone();
    session.close().await;
    let engine = engine_over(&store);
    engine.attach(&id, agent(&Script::default()));
    let error = refused(&engine, &id).await;
    let ResumeError::WorkspaceProviderUnavailable { id: backend, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(backend.as_str(), "local-directory");
    assert!(
        error
            .to_string()
            .contains("AgentBuilder::workspace_backend")
    );
}

/// Proves C13 and C15: archived and destroyed heads are named as such.
#[tokio::test]
async fn c13_c15_archived_and_destroyed_heads_are_not_replaced() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    let binding = store.session(&id).await.unwrap().binding.unwrap();
    let head = everruns_core::workspace::WorkspaceHead::reopen(Arc::clone(&backend), &binding)
        .await
        .unwrap();
    let engine = engine_over(&store);
    engine.attach(&id, agent_with(&Script::default(), &backend));
    head.archive().await.unwrap();
    let error = refused(&engine, &id).await;
    assert!(
        matches!(
            error,
            ResumeError::HeadUnavailable {
                source: WorkspaceError::HeadArchived { .. },
                ..
            }
        ),
        "{error}"
    );
    head.destroy().await.unwrap();
    let error = refused(&engine, &id).await;
    assert!(
        matches!(
            error,
            ResumeError::HeadUnavailable {
                source: WorkspaceError::HeadDestroyed { .. },
                ..
            }
        ),
        "{error}"
    );
}

/// Proves C15: a payload that does not fit its backend.
#[tokio::test]
async fn c15_a_corrupt_binding_is_named() {
    let (store, backend) = (store(), memory());
    let head = head(&backend, "x").await;
    let id = SessionId::new("ses_corrupt").unwrap();
    let row = NewSession {
        id: id.clone(),
        title: None,
        agent: AgentSummary::default(),
        created_at: SystemClock.now(),
    };
    store.create(row).await.unwrap();
    let mut binding = head.binding();
    binding.payload = BindingPayload::new(json!({"something": "else"})).unwrap();
    store.bind(&id, binding).await.unwrap();
    let engine = engine_over(&store);
    engine.attach(&id, agent_with(&Script::default(), &backend));
    let error = refused(&engine, &id).await;
    assert!(
        matches!(error, ResumeError::BindingCorrupt { .. }),
        "{error}"
    );
}

/// Proves C15: a binding whose access is not the head's.
#[tokio::test]
async fn c15_another_identity_is_named() {
    let (store, backend) = (store(), memory());
    let head = head(&backend, "x").await;
    let id = SessionId::new("ses_other").unwrap();
    let row = NewSession {
        id: id.clone(),
        title: None,
        agent: AgentSummary::default(),
        created_at: SystemClock.now(),
    };
    store.create(row).await.unwrap();
    let mut binding = head.binding();
    binding.access = everruns_core::workspace::WorkspaceHeadAccess::Shared;
    store.bind(&id, binding).await.unwrap();
    let engine = engine_over(&store);
    engine.attach(&id, agent_with(&Script::default(), &backend));
    let error = refused(&engine, &id).await;
    assert!(
        matches!(
            error,
            ResumeError::IdentityMismatch { .. } | ResumeError::BindingCorrupt { .. }
        ),
        "{error}"
    );
}

/// Proves C15: a backend that returns another head than the recorded one is not believed.
#[tokio::test]
async fn c15_a_substituted_head_is_refused() {
    let (store, inner) = (store(), memory());
    let id = used(&store, &inner).await;
    let other = head(&inner, "other").await.binding();
    let swapped: Arc<dyn WorkspaceBackend> = Arc::new(Swapped { inner, other });
    let engine = engine_over(&store);
    let script = Script::default();
    engine.attach(&id, agent_with(&script, &swapped));
    let error = refused(&engine, &id).await;
    assert!(
        matches!(error, ResumeError::IdentityMismatch { .. }),
        "{error}"
    );
    assert!(script.requests().is_empty());
}

/// Proves C22 after a restart: the environment is made around the recorded head, and around no other.
#[tokio::test]
async fn c22_c15_a_resumed_session_gets_its_environment_around_its_head() {
    use everruns_core::environment::Environment;

    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    let other = head(&backend, "other").await;
    let engine = engine_over(&store);
    engine.attach(&id, agent_with(&Script::default(), &backend));
    let error = engine
        .resume_in(&id, move |_| Ok(Environment::new(other)))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ResumeError::IdentityMismatch { .. }),
        "{error}"
    );
    let session = engine
        .resume_in(&id, |head| {
            Environment::builder()
                .workspace(head)
                .extension(Arc::new(42_u8))
                .build()
        })
        .await
        .unwrap();
    assert_eq!(*session.environment_extension::<u8>().unwrap(), 42);
}

/// Proves C06 on resume: a head that another session has claimed meanwhile.
#[tokio::test]
async fn c06_a_head_claimed_meanwhile_is_named() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    let binding = store.session(&id).await.unwrap().binding.unwrap();
    let head = everruns_core::workspace::WorkspaceHead::reopen(Arc::clone(&backend), &binding)
        .await
        .unwrap();
    let thief = SessionId::new("ses_thief").unwrap();
    head.release(&id).await.unwrap();
    head.claim(&thief).await.unwrap();
    let engine = engine_over(&store);
    engine.attach(&id, agent_with(&Script::default(), &backend));
    let error = refused(&engine, &id).await;
    let ResumeError::HeadClaimed { holder, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(holder, thief);
}

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
    store
        .acquire_lease(
            session.session_id(),
            &LeaseOwner("the other".into()),
            clock.now(),
            Duration::from_secs(1),
        )
        .await
        .unwrap();
    clock.set(Duration::from_hours(2));
    assert!(session.send_and_wait("2").await.unwrap().success);
}

/// What a process leaves that is killed between a call and its result.
async fn killed_mid_turn(store: &Arc<dyn SessionStore>, id: &SessionId, owner: &str) {
    let lease = store
        .acquire_lease(
            id,
            &LeaseOwner(owner.to_owned()),
            SystemClock.now(),
            Duration::from_millis(400),
        )
        .await
        .unwrap();
    let expected = store.session(id).await.unwrap().last_sequence;
    let call = |call: &str| everruns_core::model::ToolCall {
        id: call.to_owned(),
        name: "echo".to_owned(),
        arguments: json!({}),
    };
    let request = AppendRequest {
        session: id.clone(),
        token: lease.token,
        expected,
        idempotency_key: "killed".to_owned(),
        at: SystemClock.now(),
        events: vec![
            EventPayload::UserMessage {
                text: "Do three things.".to_owned(),
            },
            EventPayload::TurnStarted { turn: 2 },
            EventPayload::AssistantMessage {
                turn: 2,
                text: String::new(),
                tool_calls: vec![call("done"), call("open-1"), call("open-2")],
                stop: everruns_core::model::StopReason::ToolCalls,
                usage: everruns_core::model::Usage::default(),
            },
            EventPayload::ToolResult {
                turn: 2,
                call_id: "done".to_owned(),
                tool: "echo".to_owned(),
                output: "{}".to_owned(),
                outcome: ToolOutcome::Succeeded,
                data: None,
            },
        ],
    };
    store.append(request).await.unwrap();
}

async fn resumed(
    store: &Arc<dyn SessionStore>,
    backend: &Arc<dyn WorkspaceBackend>,
    id: &SessionId,
    script: &Script,
) -> Session {
    let engine = engine_over(store);
    engine.attach(id, agent_with(script, backend));
    engine.resume(id).await.unwrap()
}

#[tokio::test]
async fn an_interrupted_turn_is_closed_honestly_and_the_conversation_stays_valid() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    killed_mid_turn(&store, &id, "someone elsewhere").await;
    let script = Script::new([Step::Say("I go on.")]);
    let session = resumed(&store, &backend, &id, &script).await;
    let events = recorded(&session).await;
    let end = &events[events.len() - 4..];
    for (event, call) in end.iter().zip(["open-1", "open-2"]) {
        let EventPayload::ToolResult {
            call_id,
            outcome,
            output,
            ..
        } = event
        else {
            panic!("{event:?}");
        };
        assert_eq!((call_id.as_str(), *outcome), (call, ToolOutcome::Unknown));
        assert!(output.contains("Check the present state"));
    }
    assert_eq!(
        end[2],
        EventPayload::TurnEnded {
            turn: 2,
            outcome: TurnOutcome::Interrupted
        }
    );
    assert!(matches!(end[3], EventPayload::SessionResumed { .. }));
    let turn = session.send_and_wait("continue").await.unwrap();
    assert_eq!((turn.success, turn.number), (true, 3));
    let told = &script.requests()[0].messages;
    let results: Vec<_> = told
        .iter()
        .skip_while(|message| !matches!(message, Message::Assistant { tool_calls, .. } if !tool_calls.is_empty()))
        .skip(1)
        .take_while(|message| matches!(message, Message::ToolResult { .. }))
        .collect();
    assert_eq!(results.len(), 3, "every call is followed by its result");
}

#[tokio::test]
async fn the_lease_of_a_dead_process_is_taken_over_at_once() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    // A process number that no process can have, on this very host.
    let probe = Engine::builder().store(Arc::clone(&store)).build();
    let session = probe.create(agent(&Script::default()));
    session.start().await.unwrap();
    let held = store
        .acquire_lease(
            session.session_id(),
            &LeaseOwner("me".into()),
            SystemClock.now(),
            Duration::from_secs(1),
        )
        .await
        .unwrap_err();
    let everruns_core::session::StoreError::LeaseHeld { owner, .. } = held else {
        panic!("{held}");
    };
    let ended = owner.0.replacen(
        &format!("process {} ", std::process::id()),
        "process 4194305 ",
        1,
    );
    assert_ne!(ended, owner.0);
    store
        .acquire_lease(
            &id,
            &LeaseOwner(ended),
            SystemClock.now(),
            Duration::from_hours(1),
        )
        .await
        .unwrap();
    let script = Script::new([Step::Say("Mine now.")]);
    let session = tokio::time::timeout(
        Duration::from_secs(5),
        resumed(&store, &backend, &id, &script),
    )
    .await
    .expect("the dead are not waited for");
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
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
    let later = SystemClock.now().plus(Duration::from_hours(2));
    store
        .acquire_lease(
            session.session_id(),
            &LeaseOwner("the other".into()),
            later,
            Duration::from_secs(1),
        )
        .await
        .unwrap();
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
    // As a process whose clock is ahead would take it.
    store
        .acquire_lease(
            session.session_id(),
            &LeaseOwner("the other".into()),
            SystemClock.now().plus(Duration::from_mins(1)),
            Duration::from_mins(1),
        )
        .await
        .unwrap();
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
