use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceHead;

use super::EngineParts;

/// Why a session was not removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// The confirmation is another text than the id.
    #[error("session {session} was not deleted: the confirmation must be its id")]
    NotConfirmed {
        /// The session.
        session: SessionId,
    },
    /// A handle of this engine is on it.
    #[error("session {session} is open here: close and drop its handles first")]
    Open {
        /// The session.
        session: SessionId,
    },
    /// The store refused or failed: `NotFound`, or `LeaseHeld` while a process executes the session.
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(super) async fn delete(
    engine: &EngineParts,
    session: &SessionId,
    confirmation: &str,
) -> Result<(), DeleteError> {
    if confirmation != session.as_str() {
        return Err(DeleteError::NotConfirmed {
            session: session.clone(),
        });
    }
    if engine.live(session).is_some() {
        return Err(DeleteError::Open {
            session: session.clone(),
        });
    }
    let services = &engine.services;
    let record = services.store.session(session).await?;
    services.store.delete(session, services.clock.now()).await?;
    // The head is free for another session. Where its backend is not known here, the claim stays with the head.
    if let Some(binding) = record.binding
        && let Some(agent) = engine.agent(session)
        && let Some(backend) = engine.backend(session, &agent, &binding.provider_id)
    {
        let released = match WorkspaceHead::reopen(backend, &binding).await {
            Ok(head) => head.release(session).await,
            Err(error) => Err(error),
        };
        if let Err(error) = released {
            tracing::warn!(%session, %error, "the head keeps the claim of a session that is gone");
        }
    }
    Ok(())
}
