//! A head is not destroyed under a turn.

use std::sync::Arc;

use everruns_core::session::{Sequence, TurnOutcome};
use everruns_core::workspace::{DestroyReceipt, WorkspaceError, WorkspaceHead};
use everruns_engine::{Engine, SessionError};
use serde_json::json;

use crate::support::{Blocking, Script, Step, agent, agent_of, engine_over, head, memory};

fn busy(outcome: &Result<DestroyReceipt, WorkspaceError>) {
    assert!(
        matches!(outcome, Err(error @ WorkspaceError::HeadBusy { .. }) if error.is_retryable()),
        "{outcome:?}"
    );
}

/// Proves H54: while a tool runs, no handle destroys the head; once the session is closed, every handle does.
#[tokio::test]
async fn h54_a_head_is_not_destroyed_under_a_turn() {
    let (block, backend) = (Blocking::default(), memory());
    let script = Script::new([Step::Call(vec![("block", json!({}))])]);
    let own = head(&backend, "mine").await;
    let agent = agent_of(&script).tool(block.clone()).build().unwrap();
    let session = Engine::new().create(agent).workspace(own.clone());
    let turn = session.send("Block.").await.unwrap();
    block.begun.notified().await;

    busy(&own.destroy().await);
    busy(&session.workspace_head().unwrap().destroy().await);
    let again = WorkspaceHead::reopen(backend, &own.binding())
        .await
        .unwrap();
    busy(&again.destroy().await);

    session.close().await;
    assert_eq!(turn.await.unwrap().outcome, TurnOutcome::Cancelled);
    let receipt = own.destroy().await.unwrap();
    assert_eq!(again.destroy().await.unwrap(), receipt);
}

/// Proves H54: closing the session is enough at any moment, also while the model is asked.
#[tokio::test(flavor = "multi_thread")]
async fn h54_a_closed_session_has_let_its_head_go() {
    for yields in 0..60 {
        let backend = memory();
        let script = Script::new([Step::Say("Hello.")]);
        let own = head(&backend, "mine").await;
        let session = Engine::new().create(agent(&script)).workspace(own.clone());
        let turn = session.send("Say hello.").await.unwrap();
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        session.close().await;
        own.destroy().await.unwrap();
        drop(turn);
    }
}

/// Proves H54: who is told of the end may destroy the head; the session then says what has become of it, and records
/// nothing.
#[tokio::test]
async fn h54_an_idle_session_does_not_hold_its_head() {
    let backend = memory();
    let store = Arc::clone(Engine::new().store());
    let script = Script::new([Step::Say("Hello."), Step::Say("Never.")]);
    let own = head(&backend, "mine").await;
    let session = engine_over(&store)
        .create(agent(&script))
        .workspace(own.clone());
    session.send_and_wait("Say hello.").await.unwrap();
    own.destroy().await.unwrap();

    let last = async || {
        store
            .session(session.session_id())
            .await
            .unwrap()
            .last_sequence
    };
    let before = last().await;
    assert!(before > Sequence::START);
    let refused = session.send("And now?").await;
    assert!(
        matches!(
            refused,
            Err(SessionError::Workspace(
                WorkspaceError::HeadDestroyed { .. }
            ))
        ),
        "{refused:?}"
    );
    assert_eq!(last().await, before);
    assert_eq!(script.requests().len(), 1);
}
