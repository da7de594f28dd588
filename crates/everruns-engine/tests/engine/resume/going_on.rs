//! Sessions that go on in another engine.

use std::sync::Arc;

use everruns_core::model::Message;
use everruns_engine::{Engine, ResumeError};

use serde_json::json;

use super::{agent_with, refused, resumed, store, used};
use crate::support::{Script, Step, agent, agent_of, engine_over, head, memory};

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

/// Some models number the calls of each answer anew; results are matched by id, and providers want each id once.
#[tokio::test]
async fn a_call_with_the_id_of_an_older_one_gets_another() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    let calls = || {
        let call = Step::Call(vec![("echo", json!({})), ("echo", json!({}))]);
        Script::new([call, Step::Say("Done."), Step::Say("Again.")])
    };
    let mut told = Vec::new();
    for text in ["once", "twice"] {
        // Each of these scripts begins to count anew.
        let script = calls();
        let session = resumed(&store, &backend, &id, &script).await;
        assert!(session.send_and_wait(text).await.unwrap().success);
        session.close().await;
        told = script
            .requests()
            .pop()
            .unwrap()
            .messages
            .iter()
            .cloned()
            .collect();
    }
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for message in told {
        match message {
            Message::Assistant { tool_calls, .. } => {
                calls.extend(tool_calls.into_iter().map(|call| call.id));
            }
            Message::ToolResult { call_id, .. } => results.push(call_id),
            _ => {}
        }
    }
    assert_eq!((calls.len(), &calls), (4, &results));
    results.sort();
    results.dedup();
    assert_eq!(results.len(), 4, "{calls:?}");
}
