//! Going on with a session in another process. A second engine over the same store and backend stands for it.

mod another_head;
mod busy;
mod going_on;
mod interrupted;
mod refused;

use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::ids::SessionId;
use everruns_core::session::{AppendRequest, EventPayload, LeaseOwner, SessionStore, ToolOutcome};
use everruns_core::workspace::WorkspaceBackend;
use everruns_engine::{Agent, Engine, InMemorySessionStore, ResumeError, Session};
use serde_json::json;

use crate::support::{Echo, Script, Step, agent_of, engine_over, head};

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

/// An engine whose leases are short: it watches one of an unknown holder for as long.
fn impatient(store: &Arc<dyn SessionStore>) -> Engine {
    let lease = Duration::from_millis(400);
    Engine::builder()
        .store(Arc::clone(store))
        .lease_duration(lease)
        .build()
}

async fn resumed(
    store: &Arc<dyn SessionStore>,
    backend: &Arc<dyn WorkspaceBackend>,
    id: &SessionId,
    script: &Script,
) -> Session {
    let engine = impatient(store);
    engine.attach(id, agent_with(script, backend));
    engine.resume(id).await.unwrap()
}
