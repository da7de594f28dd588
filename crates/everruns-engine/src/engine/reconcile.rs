use std::collections::HashSet;

use everruns_core::session::SessionQuery;
use everruns_core::workspace::{Workspace, WorkspaceHeadDescriptor, WorkspaceHeadState};

use super::EngineParts;
use crate::session::SessionError;

/// Sessions that one read of the store gives.
const PAGE: u32 = 500;

pub(super) async fn unrecorded_heads(
    engine: &EngineParts,
    workspace: &Workspace,
) -> Result<Vec<WorkspaceHeadDescriptor>, SessionError> {
    // The heads first: one whose session is recorded meanwhile is not taken for one without.
    let heads = workspace.heads().await;
    let mut heads = heads.map_err(SessionError::from_workspace)?;
    let mut bound = HashSet::new();
    let mut query = SessionQuery {
        workspace: Some(workspace.id().clone()),
        limit: PAGE,
        ..SessionQuery::default()
    };
    loop {
        let page = engine.services.store.sessions(query.clone()).await;
        let page = page.map_err(SessionError::from_store)?;
        let bindings = page
            .sessions
            .into_iter()
            .filter_map(|session| session.binding);
        bound.extend(bindings.map(|binding| binding.head_id));
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    heads.retain(|head| head.state == WorkspaceHeadState::Ready && !bound.contains(&head.id));
    // A session that changed between two pages has moved to the front, and was on neither.
    let mut unrecorded = Vec::new();
    for head in heads {
        query.after = None;
        query.head = Some(head.id.clone());
        query.limit = 1;
        let page = engine.services.store.sessions(query.clone()).await;
        if page.map_err(SessionError::from_store)?.sessions.is_empty() {
            unrecorded.push(head);
        }
    }
    Ok(unrecorded)
}
