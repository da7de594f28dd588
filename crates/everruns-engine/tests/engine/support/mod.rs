//! A scripted model, tools that tell what happened, and shorthands.

mod backend;
mod caching;
mod clock;
#[cfg(feature = "tools")]
mod desk;
mod lease;
mod long;
mod model;
#[cfg(feature = "tools")]
pub(crate) mod schema;
mod store;
mod tools;
mod yielding;

use std::sync::Arc;

use everruns_core::session::{EventPayload, SessionStore};
use everruns_core::workspace::{Workspace, WorkspaceBackend, WorkspaceHead};
use everruns_engine::{Agent, AgentBuilder, Engine, Session};
use everruns_fs::{MemoryWorkspaceBackend, WorkspacePolicy};
use futures::StreamExt as _;

pub(crate) use backend::Swapped;
pub(crate) use caching::Caching;
pub(crate) use clock::SetClock;
#[cfg(feature = "tools")]
pub(crate) use desk::Desk;
pub(crate) use lease::rob;
pub(crate) use long::lengthen;
pub(crate) use model::{Script, Step};
pub(crate) use store::Watched;
pub(crate) use tools::{Blocking, Echo, Panicking};
pub(crate) use yielding::Yielding;

/// An agent of `script` that may read and write.
pub(crate) fn agent_of(script: &Script) -> AgentBuilder {
    Agent::builder()
        .name("tester")
        .instructions("Do as the test says.")
        .provider(script.clone())
        .model("scripted-1")
        .workspace_policy(WorkspacePolicy::read_write())
}

pub(crate) fn agent(script: &Script) -> Agent {
    agent_of(script).build().unwrap()
}

pub(crate) fn memory() -> Arc<dyn WorkspaceBackend> {
    Arc::new(MemoryWorkspaceBackend::new())
}

pub(crate) async fn head(backend: &Arc<dyn WorkspaceBackend>, name: &str) -> WorkspaceHead {
    let workspace = Workspace::open(Arc::clone(backend), "project")
        .await
        .unwrap();
    workspace.head(name).create().await.unwrap()
}

/// An engine over `store`, as a second process would have it.
pub(crate) fn engine_over(store: &Arc<dyn SessionStore>) -> Engine {
    Engine::builder().store(Arc::clone(store)).build()
}

/// All events recorded so far.
pub(crate) async fn recorded(session: &Session) -> Vec<EventPayload> {
    let last = session.inspect().await.unwrap().record.last_sequence;
    let events = session.events(everruns_core::session::Sequence::START);
    events
        .take(usize::try_from(last.0).unwrap())
        .map(|event| event.unwrap().payload)
        .collect()
        .await
}

/// The kinds of the events recorded so far, as a store names them.
pub(crate) async fn kinds(session: &Session) -> Vec<String> {
    recorded(session)
        .await
        .iter()
        .map(|event| {
            let value = serde_json::to_value(event).unwrap();
            value["type"].as_str().unwrap().to_owned()
        })
        .collect()
}
