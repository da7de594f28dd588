//! Heads whose session is not on record.

use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::ids::{SessionId, WorkspaceHeadId};
use everruns_core::session::{AgentSummary, NewSession, SessionStore};
use everruns_core::workspace::{Workspace, WorkspaceBinding};

use crate::support::{Watched, engine_over, memory};

/// More than one page of sessions in a workspace; the head of the last in the list is real.
async fn many(store: &dyn SessionStore, real: &WorkspaceBinding) -> SessionId {
    let oldest = SessionId::new("ses_oldest").unwrap();
    for number in 0..600 {
        let (id, binding) = if number == 0 {
            (oldest.clone(), real.clone())
        } else {
            let head_id = WorkspaceHeadId::new(format!("head_{number}")).unwrap();
            let id = SessionId::new(format!("ses_{number}")).unwrap();
            (
                id,
                WorkspaceBinding {
                    head_id,
                    ..real.clone()
                },
            )
        };
        let session = NewSession {
            id: id.clone(),
            title: None,
            agent: AgentSummary::default(),
            created_at: Timestamp::from_millis(number),
        };
        store.create(session).await.unwrap();
        store.bind(&id, binding).await.unwrap();
    }
    oldest
}

/// Proves H73: a session that goes on between two pages has moved to the front of the list, and its head is still known
/// to be in use.
#[tokio::test]
async fn h73_a_head_in_use_is_never_unrecorded() {
    let store = Watched::new();
    let workspace = Workspace::open(memory(), "project").await.unwrap();
    let used = workspace.head("used").create().await.unwrap();
    let free = workspace.head("free").create().await.unwrap();
    let oldest = many(store.as_ref(), &used.binding()).await;
    let engine = engine_over(&(Arc::clone(&store) as Arc<dyn SessionStore>));
    for busy in [false, true] {
        if busy {
            store.go_on_after_a_page(&oldest);
        }
        let unrecorded = engine.unrecorded_heads(&workspace).await.unwrap();
        let ids: Vec<_> = unrecorded.iter().map(|head| &head.id).collect();
        assert_eq!(ids, [free.id()], "while the session goes on: {busy}");
    }
}
