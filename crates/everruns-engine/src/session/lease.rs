//! The lease of a session: taken for a turn, renewed while it runs, and given up shortly after.
//!
//! A holder that was killed cannot give its lease up. Where the holder's text proves that its process has ended, the
//! lease is taken over at once: the dead cannot write, and the store fences off its token besides. Where that cannot be
//! told, it is watched: one that nobody renewed for as long as a lease runs, by the clock of whoever watches, is taken
//! over. A holder stops its turn when it could not renew for as long, by its own clock. So clocks need not agree, only run at
//! about the same speed.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, HeldLease, Lease, LeaseOwner, StoreError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::holder::{Holder, Life};
use super::journal::{Journal, JournalState, Services};
use super::{SessionError, idle};

/// How long an idle session keeps its lease, so that turns in quick succession take it once.
const LINGER: Duration = Duration::from_millis(500);
/// How long a living holder is waited for; longer than it lingers.
const GRACE: Duration = Duration::from_secs(2);
/// How often a lease that is held is asked for again.
const POLL: Duration = Duration::from_millis(50);

/// Takes the lease; also returns when it was asked for, from which on it runs.
pub(super) async fn acquire(journal: &Journal) -> Result<(Lease, Instant), SessionError> {
    take(&journal.services, &journal.session, journal.holder.owner())
        .await
        .map_err(SessionError::from_store)
}

/// Takes the lease of a session for `owner`, from a holder that is gone if need be.
///
/// # Errors
/// `LeaseHeld` while somebody executes the session; and the store's own.
pub(crate) async fn take(
    services: &Services,
    session: &SessionId,
    owner: &LeaseOwner,
) -> Result<(Lease, Instant), StoreError> {
    let (store, duration) = (&services.store, services.lease_duration);
    let began = Instant::now();
    let mut watched: Option<Watched> = None;
    let mut over: Option<HeldLease> = None;
    loop {
        let (now, asked) = (services.clock.now(), Instant::now());
        let outcome = match over.take() {
            Some(held) => {
                store
                    .take_over_lease(session, owner, &held, now, duration)
                    .await
            }
            None => store.acquire_lease(session, owner, now, duration).await,
        };
        match outcome {
            Err(StoreError::LeaseHeld {
                session,
                owner,
                expires_at,
            }) => {
                let held = HeldLease { owner, expires_at };
                let verdict = Watched::judge(&mut watched, &held, now, duration);
                match verdict {
                    Verdict::Wait => tokio::time::sleep(POLL).await,
                    Verdict::TakeOver => over = Some(held),
                    Verdict::GiveUp => {
                        return Err(StoreError::LeaseHeld {
                            session,
                            owner: held.owner,
                            expires_at,
                        });
                    }
                }
            }
            Err(error) if error.is_retryable() && began.elapsed() < GRACE => {
                tokio::time::sleep(POLL).await;
            }
            outcome => return outcome.map(|lease| (lease, asked)),
        }
    }
}

/// A lease that somebody else has, and since when it is as it is.
#[derive(Debug)]
struct Watched {
    first: Instant,
    held: HeldLease,
    since: Instant,
}

/// What to do about a lease that somebody else has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Wait,
    TakeOver,
    GiveUp,
}

impl Watched {
    /// Judges by what is seen of the lease while it is waited for. What its end says is told by another clock, so that it is
    /// only a hint, at how long it is worth waiting for a process that lives.
    fn judge(
        watched: &mut Option<Self>,
        held: &HeldLease,
        now: Timestamp,
        duration: Duration,
    ) -> Verdict {
        let at = Instant::now();
        let seen = watched.get_or_insert_with(|| Self {
            first: at,
            held: held.clone(),
            since: at,
        });
        let renewed = seen.held.owner == held.owner && seen.held != *held;
        if seen.held != *held {
            seen.held = held.clone();
            seen.since = at;
        }
        let waited = at.duration_since(seen.first);
        let unrenewed = at.duration_since(seen.since);
        match Holder::judge(&held.owner) {
            Life::Dead if waited <= duration + GRACE => Verdict::TakeOver,
            Life::Alive if held.expires_at > now && waited <= GRACE => Verdict::Wait,
            Life::Alive if held.expires_at > now => Verdict::GiveUp,
            _ if renewed || waited > 2 * duration + GRACE => Verdict::GiveUp,
            _ if unrenewed >= duration => Verdict::TakeOver,
            _ => Verdict::Wait,
        }
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
///
/// Nor is there one that could not be renewed for almost as long as it runs: others may take it over from then on.
async fn renew_when_due(journal: &Journal, state: &mut JournalState) -> Option<Duration> {
    let services = &journal.services;
    let token = state.token?;
    let due = services.lease_duration / 3;
    let since = state.renewed.elapsed();
    if since < due {
        return Some(due.saturating_sub(since));
    }
    let asked = Instant::now();
    // Past it after the process was stopped, when it is asked all the same whether anybody has taken the lease.
    let deadline = last_call(services, asked).max(*journal.sure_until.borrow());
    let renewing = services.store.acquire_lease(
        &journal.session,
        journal.holder.owner(),
        services.clock.now(),
        services.lease_duration,
    );
    let why = match timeout_at(deadline, renewing).await {
        Ok(Ok(lease)) if lease.token == token => {
            note_renewal(journal, state, asked);
            return Some(due);
        }
        Ok(Err(error))
            if !matches!(
                error,
                StoreError::LeaseHeld { .. } | StoreError::NotFound { .. }
            ) && Instant::now() < deadline =>
        {
            tracing::warn!(session = %journal.session, %error, "the lease was not renewed; it is tried again");
            return Some((services.lease_duration / 10).min(deadline - Instant::now()));
        }
        Ok(Ok(_)) => "another had it meanwhile".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the store did not answer in time".to_owned(),
    };
    tracing::warn!(session = %journal.session, %why, "the lease was lost");
    state.token = None;
    None
}

/// The lease was taken or renewed, which was asked for at `asked`.
pub(super) fn note_renewal(journal: &Journal, state: &mut JournalState, asked: Instant) {
    state.renewed = asked;
    if let Some(token) = state.token {
        journal.token.store(token.0, Ordering::SeqCst);
    }
    let until = sure_until(&journal.services, asked);
    journal.sure_until.send_replace(until);
}

/// Waits until the lease may be somebody else's. Whoever works under it must stop then, even where the journal is at work
/// for somebody who waits for the store.
///
/// A process that was stopped for longer, as by Ctrl-Z, asks first: nobody else has worked where the token is still its own.
pub(crate) async fn lapse(journal: &Journal) {
    let mut sure_until = journal.sure_until.subscribe();
    loop {
        let until = *sure_until.borrow_and_update();
        tokio::select! {
            () = tokio::time::sleep_until(until) => {
                if !is_still_held(journal).await {
                    break;
                }
            }
            renewed = sure_until.changed() => {
                if renewed.is_err() {
                    break;
                }
            }
        }
    }
    tracing::warn!(session = %journal.session, "the lease was not renewed in time; the turn is stopped");
    journal.lapsed.store(true, Ordering::SeqCst);
}

/// Renews the lease a last time.
async fn is_still_held(journal: &Journal) -> bool {
    let services = &journal.services;
    let asked = Instant::now();
    let renewing = services.store.acquire_lease(
        &journal.session,
        journal.holder.owner(),
        services.clock.now(),
        services.lease_duration,
    );
    let answer = timeout_at(last_call(services, asked), renewing).await;
    let token = FencingToken(journal.token.load(Ordering::SeqCst));
    let is_own = matches!(answer, Ok(Ok(lease)) if lease.token == token);
    if is_own {
        journal.sure_until.send_replace(sure_until(services, asked));
    }
    is_own
}

/// How long the store is asked whether the lease is still held: for less than others still wait.
fn last_call(services: &Services, asked: Instant) -> Instant {
    asked + services.lease_duration / 20
}

/// Others wait for the lease's whole time after they have seen it; a tenth of it is for what takes time here.
fn sure_until(services: &Services, asked: Instant) -> Instant {
    asked
        + services
            .lease_duration
            .saturating_sub(services.lease_duration / 10)
}

/// Forgets a lease that [lapsed](lapse).
pub(super) fn give_up_lapsed(journal: &Journal, state: &mut JournalState) {
    if journal.lapsed.swap(false, Ordering::SeqCst) {
        state.token = None;
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
