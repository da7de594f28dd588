//! Forks that a killed process had begun.

use anyhow::{Context as _, ensure};
use everruns::session::{EventPayload, SessionEvent, SessionStore};
use everruns::{Engine, SessionId, Simulated, Workspace, WorkspaceHeadState};

use super::removals::is_there;
use crate::place::{Kind, Place, agent};

/// The session that was to be made when the process was killed.
pub(super) fn unfinished(recorded: &[SessionEvent]) -> Option<SessionId> {
    let mut begun = None;
    for event in recorded {
        match &event.payload {
            EventPayload::ForkBegun { session, .. } => begun = Some(session.clone()),
            EventPayload::ForkEnded { .. }
            | EventPayload::Forked { .. }
            | EventPayload::RecordRestored => begun = None,
            _ => {}
        }
    }
    begun
}

/// Deletes a session whose fork was never finished; then both the fork's session and its head are there, or neither is.
pub(super) async fn delete_source(
    place: &Place,
    store: &dyn SessionStore,
    source: &SessionId,
) -> anyhow::Result<()> {
    let engine = place.engine().await?;
    engine.attach(source, agent(place.backend()?, Simulated::new())?);
    let deleted = engine.delete_session(source, source.as_str()).await;
    deleted.with_context(|| format!("{source}, whose fork is not finished, cannot be deleted"))?;
    ensure!(!is_there(store, source).await?, "{source} is not deleted");
    have_sessions(place, &engine).await
}

/// Every head that is a fork and can be used has its session.
pub(super) async fn have_sessions(place: &Place, engine: &Engine) -> anyhow::Result<()> {
    if place.kind == Kind::Memory {
        return Ok(());
    }
    let workspace: Workspace = place.workspace().await?;
    let unrecorded = engine.unrecorded_heads(&workspace).await?;
    let fork = unrecorded
        .iter()
        .find(|head| head.forked_from.is_some() && head.state == WorkspaceHeadState::Ready);
    ensure!(fork.is_none(), "a fork's head without a session: {fork:?}");
    Ok(())
}
