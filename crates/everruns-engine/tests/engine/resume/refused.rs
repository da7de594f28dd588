//! Sessions that cannot be resumed here, and why.

use std::sync::Arc;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::ids::SessionId;
use everruns_core::session::{AgentSummary, NewSession, SessionStore, StoreError};
use everruns_core::workspace::{BindingPayload, WorkspaceError};
use everruns_engine::ResumeError;
use serde_json::json;

use super::{agent_with, refused, store, used};
use crate::support::{Script, Watched, agent, agent_of, engine_over, head, memory};

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

/// Proves C15 where the store itself fails: that is told as such, may pass, and nothing has changed.
#[tokio::test(start_paused = true)]
async fn c15_a_store_that_fails_is_named() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let backend = memory();
    let id = used(&store, &backend).await;
    let engine = engine_over(&store);
    engine.attach(&id, agent_with(&Script::default(), &backend));
    let before = store.session(&id).await.unwrap();

    watched.go_away(true);
    let error = refused(&engine, &id).await;
    let named = matches!(&error, ResumeError::Store(StoreError::Unavailable { .. }));
    assert!(named && error.is_retryable(), "{error:?}");

    watched.go_away(false);
    assert_eq!(store.session(&id).await.unwrap(), before);
    let session = engine.resume(&id).await.unwrap();
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
}
