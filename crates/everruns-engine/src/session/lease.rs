//! The lease of a session: taken for a turn, renewed while it runs, and given up shortly after.
//!
//! A holder that was killed cannot give its lease up. Where the holder's text proves that its process has ended,
//! the lease is taken over at once, as of the time at which it would have expired: the dead cannot write, and the
//! store fences off its token besides. Where that cannot be told, the lease is waited for until it expires unless
//! it is seen to be renewed.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::session::{Lease, StoreError};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::holder::{Holder, Life};
use super::journal::{Journal, JournalState};
use super::{SessionError, idle};

/// How long an idle session keeps its lease, so that turns in quick succession take it once.
const LINGER: Duration = Duration::from_millis(500);
/// How long a living holder is waited for; longer than it lingers.
const GRACE: Duration = Duration::from_secs(2);
/// How often a lease that is held is asked for again.
const POLL: Duration = Duration::from_millis(50);

/// Takes the lease.
pub(super) async fn acquire(journal: &Journal) -> Result<Lease, SessionError> {
    let services = &journal.services;
    let patience = services.lease_duration + GRACE;
    let began = Instant::now();
    let mut first_expiry: Option<Timestamp> = None;
    let mut as_of = services.clock.now();
    loop {
        let outcome = services
            .store
            .acquire_lease(
                &journal.session,
                journal.holder.owner(),
                as_of,
                services.lease_duration,
            )
            .await;
        as_of = services.clock.now();
        match outcome {
            Ok(lease) => return Ok(lease),
            Err(StoreError::LeaseHeld {
                session,
                owner,
                expires_at,
            }) => {
                let renewed = first_expiry.is_some_and(|first| expires_at > first);
                first_expiry.get_or_insert(expires_at);
                let give_up = match Holder::judge(&owner) {
                    Life::Dead => {
                        as_of = as_of.max(expires_at);
                        began.elapsed() > patience
                    }
                    Life::Alive => began.elapsed() > GRACE,
                    Life::Unknown => renewed || began.elapsed() > patience,
                };
                if give_up {
                    return Err(SessionError::Busy {
                        session,
                        owner,
                        expires_at,
                    });
                }
            }
            Err(error) if error.is_retryable() && began.elapsed() < GRACE => {}
            Err(error) => return Err(SessionError::from_store(error)),
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Sees to it that a task renews the lease while a turn runs, gives it up afterwards, and drops what an idle session
/// need not keep.
pub(super) fn keep(journal: &Arc<Journal>, state: &mut JournalState) {
    if state.kept {
        // It may sleep for longer than a lease that was taken just now runs.
        if state.renewed.elapsed() < POLL {
            journal.nudge.notify_one();
        }
    } else {
        state.kept = true;
        let task = keeper(Arc::downgrade(journal), Arc::clone(&journal.nudge));
        drop(tokio::spawn(task));
    }
}

async fn keeper(journal: Weak<Journal>, nudge: Arc<Notify>) {
    loop {
        let wait = {
            let Some(journal) = journal.upgrade() else {
                return;
            };
            let mut state = journal.lock().await;
            let Some(wait) = tend(&journal, &mut state).await else {
                state.kept = false;
                return;
            };
            wait
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = nudge.notified() => {}
        }
    }
}

/// Renews or gives up the lease; returns after how long to look again, or `None` when there is none any more.
async fn tend(journal: &Journal, state: &mut JournalState) -> Option<Duration> {
    if state.running.is_none() {
        let idle = state.last_use.elapsed();
        if state.token.is_some() && idle < LINGER {
            return Some(LINGER.saturating_sub(idle));
        }
        give_up(journal, state).await;
        return idle::shed_when_due(journal, state);
    }
    let wait = renew_when_due(journal, state).await;
    if wait.is_none()
        && let Some(turn) = &state.running
    {
        tracing::warn!(session = %journal.session, "the turn is stopped");
        turn.cancellation.cancel();
    }
    wait
}

/// Does what takes long for one who keeps the state locked, so that the keeper cannot renew the lease meanwhile.
///
/// A lease that is lost stops nothing: what is under way comes to its end, and the store refuses the record of it.
pub(super) async fn while_renewed<T>(
    journal: &Journal,
    state: &mut JournalState,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    while let Some(wait) = renew_when_due(journal, state).await {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(wait) => {}
        }
    }
    work.await
}

/// Renews the lease when a third of its time has passed; returns after how long to look again, or `None` when there is
/// none any more.
async fn renew_when_due(journal: &Journal, state: &mut JournalState) -> Option<Duration> {
    let services = &journal.services;
    let token = state.token?;
    let due = services.lease_duration / 3;
    let since = state.renewed.elapsed();
    if since < due {
        return Some(due.saturating_sub(since));
    }
    let renewed = services
        .store
        .acquire_lease(
            &journal.session,
            journal.holder.owner(),
            services.clock.now(),
            services.lease_duration,
        )
        .await;
    match renewed {
        Ok(lease) if lease.token == token => {
            state.renewed = Instant::now();
            Some(due)
        }
        Ok(_) | Err(StoreError::LeaseHeld { .. } | StoreError::NotFound { .. }) => {
            tracing::warn!(session = %journal.session, "the lease was lost");
            state.token = None;
            None
        }
        Err(error) => {
            tracing::warn!(session = %journal.session, %error, "the lease was not renewed; it is tried again");
            Some(services.lease_duration / 10)
        }
    }
}

/// Gives up the lease. A failure only means that others wait until it expires.
pub(super) async fn give_up(journal: &Journal, state: &mut JournalState) {
    let Some(token) = state.token.take() else {
        return;
    };
    let released = journal
        .services
        .store
        .release_lease(&journal.session, token)
        .await;
    if let Err(error) = released {
        tracing::debug!(session = %journal.session, %error, "the lease is left to expire");
    }
}

/// Gives up the lease in a task, when there is a runtime for it. Nothing else is done by dropping a session.
pub(super) fn release_on_drop(journal: &mut Journal) {
    let token = journal.state.get_mut().token.take();
    let (Some(token), Ok(runtime)) = (token, tokio::runtime::Handle::try_current()) else {
        return;
    };
    let store = Arc::clone(&journal.services.store);
    let session = journal.session.clone();
    drop(runtime.spawn(async move {
        if let Err(error) = store.release_lease(&session, token).await {
            tracing::debug!(%session, %error, "the lease is left to expire");
        }
    }));
}
