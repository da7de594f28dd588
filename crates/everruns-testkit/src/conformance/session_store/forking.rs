use everruns_core::session::{
    EventPayload, EventQuery, FencingToken, ForkRequest, Sequence, StoreError,
};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use super::Subject;
use super::samples::{append, at, binding, held, id, leased, over, said, session};
use crate::check::{CheckResult, Failure};

fn request(
    source: &str,
    token: FencingToken,
    through: u64,
    fork: &str,
    head: &str,
) -> Result<ForkRequest, Failure> {
    Ok(ForkRequest {
        source: id(source)?,
        token,
        through: Sequence(through),
        session: session(fork, 5_000)?,
        binding: binding("wks_a", head, Isolated)?,
        events: vec![EventPayload::Forked { from: id(source)? }],
    })
}

/// A session with three events, its head `head_a`.
async fn source(subject: &Subject) -> Result<FencingToken, Failure> {
    let (id, token) = leased(subject, "ses_a").await?;
    let binding = binding("wks_a", "head_a", Isolated)?;
    subject.store.bind(&id, binding).await?;
    for (place, key) in [(0, "one"), (1, "two"), (2, "three")] {
        append(subject.store.as_ref(), &id, token, place, key).await?;
    }
    Ok(token)
}

pub(super) async fn takes_over_the_first_events(subject: Subject) -> CheckResult {
    let token = source(&subject).await?;
    let made = request("ses_a", token, 2, "ses_b", "head_b")?;
    let record = subject.store.fork(made.clone()).await?;
    ensure_eq!(
        record,
        subject.store.session(&id("ses_b")?).await?,
        "the record"
    );
    ensure_eq!(record.binding, Some(made.binding), "its binding");
    ensure_eq!(record.last_sequence, Sequence(3), "its last place");
    let all = EventQuery::after(Sequence::START, 10);
    let forked = subject.store.events(&id("ses_b")?, all).await?.events;
    let whole = subject.store.events(&id("ses_a")?, all).await?.events;
    ensure_eq!(forked[..2], whole[..2], "the events taken over");
    ensure_eq!(forked[2].payload, made.events[0], "the event that follows");
    ensure_eq!(whole.len(), 3, "the events of the source");
    // It goes on by itself, and the source's keys are not its own.
    let term = super::samples::TERM;
    let owner = super::samples::owner("second");
    let fork = id("ses_b")?;
    let lease = subject
        .store
        .acquire_lease(&fork, &owner, at(6_000), term)
        .await?;
    let own = lease.token;
    let receipt = append(subject.store.as_ref(), &fork, own, 3, "one").await?;
    ensure!(!receipt.replayed, "a key of the source is answered");
    Ok(())
}

pub(super) async fn is_made_whole_or_not_at_all(subject: Subject) -> CheckResult {
    let token = source(&subject).await?;
    refused!(
        subject
            .store
            .fork(request("ses_x", token, 1, "ses_b", "head_b")?)
            .await,
        StoreError::NotFound { .. },
        "a fork of an unknown session"
    );
    refused!(
        subject.store.fork(request("ses_a", token, 4, "ses_b", "head_b")?).await,
        StoreError::SequenceConflict { actual, .. } if actual == Sequence(3),
        "a fork through an event that is not there"
    );
    refused!(
        subject.store.fork(request("ses_a", token, 1, "ses_b", "head_a")?).await,
        StoreError::HeadBound { session, .. } if session == id("ses_a")?,
        "a fork on the head of its source"
    );
    refused!(
        subject
            .store
            .fork(request("ses_a", token, 1, "ses_a", "head_b")?)
            .await,
        StoreError::AlreadyExists { .. },
        "a fork of a taken id"
    );
    refused!(
        subject.store.session(&id("ses_b")?).await,
        StoreError::NotFound { .. },
        "the session of a refused fork"
    );
    // Nothing of the refused ones holds the head.
    subject
        .store
        .fork(request("ses_a", token, 0, "ses_b", "head_b")?)
        .await?;
    let kept = subject
        .store
        .events(&id("ses_b")?, EventQuery::last(10))
        .await?;
    ensure_eq!(kept.events.len(), 1, "the events of a fork of nothing");
    ensure!(
        kept.events[0].payload != said("one"),
        "an event was taken over"
    );
    Ok(())
}

/// Proves H53 for forks: who was taken over from makes no session.
pub(super) async fn needs_the_present_lease(subject: Subject) -> CheckResult {
    let old = source(&subject).await?;
    let first = held("first", 11_000);
    let new = over(&subject, &id("ses_a")?, "second", &first, 1_000).await?;
    refused!(
        subject
            .store
            .fork(request("ses_a", old, 2, "ses_b", "head_b")?)
            .await,
        StoreError::Fenced { presented, .. } if presented == old,
        "a fork with a lease that was taken over"
    );
    refused!(
        subject.store.session(&id("ses_b")?).await,
        StoreError::NotFound { .. },
        "the fork"
    );
    let made = request("ses_a", new.token, 2, "ses_b", "head_b")?;
    subject.store.fork(made).await?;
    Ok(())
}

/// Proves H61 for the store: whoever finds a fork that was begun learns whether its session was made.
pub(super) async fn a_deleted_one_is_told_from_one_never_made(subject: Subject) -> CheckResult {
    let token = source(&subject).await?;
    let fork = id("ses_b")?;
    let refused = request("ses_a", token, 2, "ses_b", "head_a")?;
    refused!(
        subject.store.fork(refused).await,
        StoreError::HeadBound { .. },
        "a fork on the head of its source"
    );
    ensure!(
        !subject.store.is_deleted(&fork).await?,
        "a fork that was refused is taken for a deleted one"
    );
    let made = request("ses_a", token, 2, "ses_b", "head_b")?;
    subject.store.fork(made).await?;
    ensure!(
        !subject.store.is_deleted(&fork).await?,
        "a fork that is recorded is taken for a deleted one"
    );
    subject.store.delete(&fork, None).await?;
    ensure!(
        subject.store.is_deleted(&fork).await?,
        "a deleted fork is taken for one that was never made"
    );
    Ok(())
}
