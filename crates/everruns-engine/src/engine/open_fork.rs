//! A fork that was begun and never finished, when its source is deleted.

use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::session::{SessionRecord, StoreError};
use everruns_core::workspace::{WorkspaceBackend, WorkspaceBinding, WorkspaceError, WorkspaceHead};

use super::{DeleteError, EngineParts};
use crate::session::{Wish, begun_fork, forked_head, was_made};

/// Gives up a fork whose process has ended: nobody could finish it once its source is gone. Its session was never made, so
/// its head must not be there either; it holds nothing but copies, and what no commit holds is kept when it is destroyed.
///
/// Can be repeated: a resume of the source, should it not be deleted after all, finds no head and says so on record.
pub(super) async fn give_up(
    engine: &EngineParts,
    record: &SessionRecord,
) -> Result<(), DeleteError> {
    let Some(binding) = &record.binding else {
        return Ok(());
    };
    let store = engine.services.store.as_ref();
    let wish = match begun_fork(store, &record.id).await {
        Ok(Some(wish)) => wish,
        Ok(None) => return Ok(()),
        // Deleting it is how one gets rid of such a session.
        Err(error @ StoreError::CorruptRecord { .. }) => {
            let session = &record.id;
            tracing::warn!(%session, %error, "whether a fork was begun cannot be read");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    // Only the source does not know yet. The head is the fork's, or what its deletion has left to the user.
    if was_made(store, &wish).await? {
        return Ok(());
    }
    let Some(backend) = backend(engine, &record.id, binding) else {
        return Err(DeleteError::ForkUnfinished {
            session: record.id.clone(),
            head: wish.head,
        });
    };
    match remove(&backend, binding, &wish).await {
        Ok(()) => Ok(()),
        Err(error) if is_gone(&error) => Ok(()),
        Err(source) => Err(DeleteError::ForkNotRemoved {
            session: record.id.clone(),
            head: wish.head,
            source,
        }),
    }
}

fn backend(
    engine: &EngineParts,
    session: &SessionId,
    binding: &WorkspaceBinding,
) -> Option<Arc<dyn WorkspaceBackend>> {
    let agent = engine.agent(session)?;
    engine.backend(session, &agent, &binding.provider_id)
}

async fn remove(
    backend: &Arc<dyn WorkspaceBackend>,
    binding: &WorkspaceBinding,
    wish: &Wish,
) -> Result<(), WorkspaceError> {
    let (workspace, from) = (&binding.workspace_id, &binding.head_id);
    let Some(made) = forked_head(backend, workspace, from, &wish.head).await? else {
        return Ok(());
    };
    match made.claim(&wish.session).await {
        Ok(()) => {}
        // Until the fork's session claims it, the head is anybody's.
        Err(WorkspaceError::HeadClaimed { .. }) => return Ok(()),
        Err(error) => return Err(error),
    }
    destroy(&made, wish).await
}

async fn destroy(made: &WorkspaceHead, wish: &Wish) -> Result<(), WorkspaceError> {
    let receipt = made.destroy().await?;
    tracing::info!(
        head = %made.id(), name = wish.head, ?receipt,
        "the head of a fork that was never finished is destroyed with the fork's source"
    );
    Ok(())
}

/// Nobody can use the head, so that nothing is to be removed.
fn is_gone(error: &WorkspaceError) -> bool {
    matches!(
        error,
        WorkspaceError::HeadUnavailable { .. }
            | WorkspaceError::HeadNotFound { .. }
            | WorkspaceError::HeadArchived { .. }
            | WorkspaceError::HeadDestroyed { .. }
            | WorkspaceError::WorkspaceNotFound { .. }
            | WorkspaceError::NotFound { .. }
            | WorkspaceError::NotARepository { .. }
    )
}
