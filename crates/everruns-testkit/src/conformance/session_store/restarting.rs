use everruns_core::session::{EventQuery, Sequence, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use super::Subject;
use super::samples::{TERM, append, at, binding, held, leased, over, owner, session};
use crate::check::CheckResult;

/// Proves H66 for an orderly end: what was acknowledged is there afterwards
pub(super) async fn everything_is_kept(subject: Subject) -> CheckResult {
    let second = subject.second().await;
    ensure_eq!(
        subject.store.is_durable(),
        second.is_some(),
        "whether the store is durable"
    );
    if second.is_none() {
        return Ok(());
    }
    drop(second);
    let (id, token) = leased(&subject, "ses_a").await?;
    subject
        .store
        .bind(&id, binding("ws", "head", Isolated)?)
        .await?;
    append(subject.store.as_ref(), &id, token, 0, "key-1").await?;
    append(subject.store.as_ref(), &id, token, 1, "key-2").await?;
    let record = subject.store.session(&id).await?;
    let events = subject.store.events(&id, EventQuery::last(10)).await?;
    // The closure that reopens the store keeps what the sessions lie in.
    let mut subject = subject;
    if let Some(again) = subject.second().await {
        subject.store = again;
    }
    ensure_eq!(subject.store.session(&id).await?, record, "the record");
    ensure_eq!(
        subject.store.events(&id, EventQuery::last(10)).await?,
        events,
        "the events"
    );
    let replay = append(subject.store.as_ref(), &id, token, 0, "key-1").await?;
    ensure!(replay.replayed, "the key was forgotten");
    append(subject.store.as_ref(), &id, token, 2, "key-3").await?;
    Ok(())
}

pub(super) async fn leases_outlive_the_process(mut subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    subject.store = second;
    refused!(
        subject
            .store
            .acquire_lease(&id, &owner("second"), at(2_000), TERM)
            .await,
        StoreError::LeaseHeld { .. },
        "taking a lease of a process that ended"
    );
    let taken = over(&subject, &id, "second", &held("first", 11_000), 2_000).await?;
    ensure!(
        taken.token > token,
        "{:?} is not greater than {token:?}",
        taken.token
    );
    Ok(())
}

pub(super) async fn deletions_stay_known(subject: Subject) -> CheckResult {
    let (used, token) = leased(&subject, "ses_a").await?;
    let unused = subject.store.create(session("ses_b", 1)?).await?.id;
    subject.store.delete(&used, Some(token)).await?;
    subject.store.delete(&unused, None).await?;
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    for session in [used, unused] {
        ensure!(
            second.is_deleted(&session).await?,
            "{session} is taken for one that never was"
        );
    }
    Ok(())
}

pub(super) async fn two_instances_see_each_other(subject: Subject) -> CheckResult {
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    let b = second.create(session("ses_b", 2)?).await?.id;
    let head = binding("ws", "head", Isolated)?;
    subject.store.bind(&a, head.clone()).await?;
    refused!(
        second.bind(&b, head).await,
        StoreError::HeadBound { .. },
        "the second instance"
    );
    let lease = second
        .acquire_lease(&a, &owner("second"), at(1_000), TERM)
        .await?;
    append(second.as_ref(), &a, lease.token, 0, "key").await?;
    let seen = subject.store.session(&a).await?.last_sequence;
    ensure_eq!(seen, Sequence(1), "what the first instance sees");
    Ok(())
}
