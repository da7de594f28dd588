use everruns_core::ids::WorkspaceBackendId;
use everruns_core::model::Usage;
use everruns_core::session::SessionRecord;
use everruns_core::workspace::WorkspaceHeadDescriptor;

use super::{Active, SessionCore, SessionError};

/// What a session is and executes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionInspection {
    /// What the store keeps of it, binding included.
    pub record: SessionRecord,
    /// Its head.
    pub head: WorkspaceHeadDescriptor,
    /// The backend that keeps the head.
    pub backend: WorkspaceBackendId,
    /// The tools that the model may call.
    pub tools: Vec<String>,
    /// The turn that runs in this process.
    pub running_turn: Option<u64>,
    /// How many turns it has had.
    pub turns: u64,
    /// What they used.
    pub usage: Usage,
}

pub(super) async fn inspect(
    core: &SessionCore,
    active: &Active,
) -> Result<SessionInspection, SessionError> {
    let record = core
        .journal
        .store()
        .session(&core.id)
        .await
        .map_err(SessionError::from_store)?;
    let head = active.environment.workspace_head();
    let mut state = core.journal.lock().await;
    let (turns, usage) = core.journal.totals(&mut state).await?;
    Ok(SessionInspection {
        record,
        head: head.descriptor().clone(),
        backend: head.backend().id().clone(),
        tools: active.agent.tool_names(),
        running_turn: state.running.as_ref().map(|turn| turn.number),
        turns,
        usage,
    })
}
