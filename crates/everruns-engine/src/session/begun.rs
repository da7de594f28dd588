//! What a session has begun between turns and not ended, looked at from outside of it.

use std::sync::Arc;

use everruns_core::ids::{SessionId, WorkspaceHeadId, WorkspaceId};
use everruns_core::session::{SessionStore, StoreError};
use everruns_core::workspace::{
    WorkspaceBackend, WorkspaceError, WorkspaceHead, WorkspaceHeadState,
};

use super::intent::{Intent, Wish};
use super::replay;

/// The fork that was begun and whose end is not on record.
pub(crate) async fn begun_fork(
    store: &dyn SessionStore,
    session: &SessionId,
) -> Result<Option<Wish>, StoreError> {
    let tail = replay::tail(store, session).await?;
    Ok(match tail.conversation.intent() {
        Some(Intent::Fork(wish)) => Some(wish.clone()),
        _ => None,
    })
}

/// Whether the session of a fork was made, also when it has been deleted since. The head is not the fork's to change any more
/// then: it is the session's, and was left to the user by a deletion.
///
/// Under the source's lease the answer stays: nobody else makes the session.
pub(crate) async fn was_made(store: &dyn SessionStore, wish: &Wish) -> Result<bool, StoreError> {
    match store.session(&wish.session).await {
        Ok(_) | Err(StoreError::CorruptRecord { .. }) => Ok(true),
        Err(StoreError::NotFound { .. }) => store.is_deleted(&wish.session).await,
        Err(error) => Err(error),
    }
}

/// The head of this name that was forked from the head `from`, unless it is archived or destroyed.
pub(crate) async fn forked_head(
    backend: &Arc<dyn WorkspaceBackend>,
    workspace: &WorkspaceId,
    from: &WorkspaceHeadId,
    name: &str,
) -> Result<Option<WorkspaceHead>, WorkspaceError> {
    let heads = backend.heads(workspace).await?;
    let found = heads.into_iter().find(|other| {
        other.name.as_str() == name
            && other.state == WorkspaceHeadState::Ready
            && other.forked_from.as_ref() == Some(from)
    });
    let Some(found) = found else {
        return Ok(None);
    };
    let binding = backend.binding(workspace, &found.id).await?;
    WorkspaceHead::reopen(Arc::clone(backend), &binding)
        .await
        .map(Some)
}
