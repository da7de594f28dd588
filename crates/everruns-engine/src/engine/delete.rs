use std::time::Duration;

use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, SessionRecord, StoreError};
use everruns_core::workspace::{WorkspaceError, WorkspaceHead};

use super::{EngineParts, open_fork};
use crate::session::{Holder, lease};

/// How often a store is asked again, after a pause that doubles each time.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);

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
    /// A fork of it was begun and never finished, and its backend, by which its head is found, is not known here.
    #[error(
        "session {session} was not deleted: its fork `{}` was begun and never finished, and what is there of it cannot \
         be looked at here: attach its agent first, with the backend, or resume the session",
        head.escape_debug()
    )]
    ForkUnfinished {
        /// The session.
        session: SessionId,
        /// The name of the fork's head.
        head: String,
    },
    /// A fork of it was begun and never finished, and the fork's head could not be removed.
    #[error(
        "session {session} was not deleted: its fork `{}` was never finished, and its head could not be removed: {source}",
        head.escape_debug()
    )]
    ForkNotRemoved {
        /// The session.
        session: SessionId,
        /// The name of the fork's head.
        head: String,
        /// Why not.
        source: WorkspaceError,
    },
    /// The store refused or failed: `NotFound`, or `LeaseHeld` while a process executes the session.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The task was stopped from outside, as a runtime does when it shuts down.
    #[error("the task was stopped before it ended: the session is still there, or it is not")]
    Stopped,
}

/// The claim goes first, so that a crash in between leaves no head claimed for a session that is gone: the session is
/// still there then, and can be resumed, which claims the head again, or deleted.
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
    let token = take_lease(engine, session).await?;
    if let Err(error) = give_up_fork(engine, &record).await {
        again(|| services.store.release_lease(session, token)).await?;
        return Err(error);
    }
    let head = head(engine, &record).await;
    release(head.as_ref(), session).await;
    match remove(engine, session, token).await {
        Ok(()) => {
            // Another deletion that failed meanwhile has claimed it again.
            release(head.as_ref(), session).await;
            Ok(())
        }
        // Another deletion was first, and has freed the head for others.
        Err(error @ StoreError::NotFound { .. }) => Err(error.into()),
        Err(error) => {
            claim_again(engine, head.as_ref(), session).await;
            Err(error.into())
        }
    }
}

async fn give_up_fork(engine: &EngineParts, record: &SessionRecord) -> Result<(), DeleteError> {
    open_fork::give_up(engine, record).await?;
    failpoint::hit("engine.delete.after-fork").map_err(StoreError::from)?;
    Ok(())
}

async fn release(head: Option<&WorkspaceHead>, session: &SessionId) {
    if let Some(head) = head
        && let Err(error) = head.release(session).await
    {
        tracing::warn!(%session, %error, "the head keeps the claim of a session that is deleted");
    }
}

/// The session was not deleted, so that its head is claimed again; unless another deletion has come to its end, or nobody
/// can say whether one has: a session that is there claims its head when it is resumed, and one that is gone never frees it.
async fn claim_again(engine: &EngineParts, head: Option<&WorkspaceHead>, session: &SessionId) {
    let Some(head) = head else {
        return;
    };
    if let Err(error) = head.claim(session).await {
        tracing::warn!(%session, %error, "the session was not deleted, and its head is not claimed");
    }
    if engine.services.store.session(session).await.is_err() {
        release(Some(head), session).await;
    }
}

async fn remove(
    engine: &EngineParts,
    session: &SessionId,
    token: FencingToken,
) -> Result<(), StoreError> {
    let store = &engine.services.store;
    let deleted = match failpoint::hit("engine.delete.after-release") {
        Ok(()) => store.delete(session, Some(token)).await,
        Err(error) => Err(error.into()),
    };
    if deleted.is_err() {
        // It is the lease of a living process, and would be in everybody's way.
        let released = again(|| store.release_lease(session, token)).await;
        if let Err(error) = released {
            tracing::warn!(%session, %error, "the lease of a session that is not deleted is left");
        }
    }
    deleted
}

/// Asks a store that cannot be reached a few times more.
async fn again<T, F>(ask: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut attempts = 0;
    loop {
        match ask().await {
            Err(error @ (StoreError::Busy { .. } | StoreError::Unavailable { .. }))
                if attempts < ATTEMPTS =>
            {
                attempts += 1;
                tracing::debug!(%error, attempts, "asking the store again");
                tokio::time::sleep(PAUSE * 2_u32.pow(attempts)).await;
            }
            outcome => return outcome,
        }
    }
}

/// Nobody executes a session whose lease is here. That of a process which is gone is taken over.
async fn take_lease(engine: &EngineParts, session: &SessionId) -> Result<FencingToken, StoreError> {
    let services = &engine.services;
    let holder = Holder::new(services.entropy.as_ref());
    let (lease, _) = lease::take(services, session, holder.owner()).await?;
    Ok(lease.token)
}

/// The session's head; `None` where its backend is not known here or the head cannot be used.
async fn head(engine: &EngineParts, record: &SessionRecord) -> Option<WorkspaceHead> {
    let binding = record.binding.as_ref()?;
    let agent = engine.agent(&record.id)?;
    let backend = engine.backend(&record.id, &agent, &binding.provider_id)?;
    match WorkspaceHead::reopen(backend, binding).await {
        Ok(head) => Some(head),
        Err(error) => {
            let session = &record.id;
            tracing::debug!(%session, %error, "the head of a session to be deleted cannot be reopened");
            None
        }
    }
}
