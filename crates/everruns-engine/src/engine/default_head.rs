//! The head of a session that is given none.

use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::workspace::{Workspace, WorkspaceHead};

use super::EngineParts;
use crate::agent::Agent;
use crate::session::SessionError;

/// The agent's folder as a shared head, or a new head in memory.
pub(crate) async fn of(
    engine: &EngineParts,
    agent: &Agent,
    session: &SessionId,
) -> Result<WorkspaceHead, SessionError> {
    if let Some(directory) = &agent.parts().directory {
        return directory.head().await.map_err(SessionError::from_workspace);
    }
    let memory = agent
        .parts()
        .backends
        .get(engine.memory.id())
        .unwrap_or(&engine.memory);
    let workspace = Workspace::open(Arc::clone(memory), "default")
        .await
        .map_err(SessionError::from_workspace)?;
    workspace
        .head(session.as_str())
        .create()
        .await
        .map_err(SessionError::from_workspace)
}
