//! A head is never put in the place of the recorded one.

use std::sync::Arc;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::ids::SessionId;
use everruns_core::session::{AgentSummary, NewSession};
use everruns_core::workspace::{WorkspaceBackend, WorkspaceError};
use everruns_engine::ResumeError;

use super::{agent_with, refused, store, used};
use crate::support::{Script, Swapped, engine_over, head, memory};

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
