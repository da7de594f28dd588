use everruns_core::session::{Sequence, StoreError};

use super::Subject;
use super::samples::{TERM, append, at, held, leased, over, owner};
use crate::check::CheckResult;

pub(super) async fn renewing_keeps_the_token(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let renewed = subject
        .store
        .acquire_lease(&id, &owner("first"), at(5_000), TERM)
        .await?;
    ensure_eq!(renewed.token, token, "the token");
    ensure_eq!(renewed.session, id, "the session");
    ensure_eq!(renewed.owner, owner("first"), "the owner");
    ensure_eq!(renewed.expires_at, at(15_000), "the end");
    append(subject.store.as_ref(), &id, token, 0, "key").await?;
    Ok(())
}

/// Two renewals at one moment, or after the clock was set back, still differ for who watches.
pub(super) async fn every_renewal_has_another_end(subject: Subject) -> CheckResult {
    let (id, _) = leased(&subject, "ses_a").await?;
    let mut last = at(11_000);
    for now in [1_000, 1_000, 0, 5_000] {
        let renewed = subject
            .store
            .acquire_lease(&id, &owner("first"), at(now), TERM)
            .await?;
        ensure!(renewed.expires_at > last, "renewed at {now}: {renewed:?}");
        last = renewed.expires_at;
    }
    Ok(())
}

/// Proves H53 for a store, with the checks that follow. Whatever the clocks say, a lease is its owner's.
pub(super) async fn a_held_lease_is_refused(subject: Subject) -> CheckResult {
    let (id, _) = leased(&subject, "ses_a").await?;
    for now in [1_000, 5_000, 10_999, 11_000, 3_600_000] {
        refused!(
            subject.store.acquire_lease(&id, &owner("second"), at(now), TERM).await,
            StoreError::LeaseHeld { owner: holder, expires_at, .. }
                if holder == owner("first") && expires_at == at(11_000),
            "taking a lease that somebody has, at {now}"
        );
    }
    Ok(())
}

pub(super) async fn what_was_seen_is_taken_over(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let first = held("first", 11_000);
    let taken = over(&subject, &id, "second", &first, 500).await?;
    ensure!(
        taken.token > token,
        "{:?} is not greater than {token:?}",
        taken.token
    );
    ensure_eq!(taken.owner, owner("second"), "the owner");
    ensure_eq!(taken.expires_at, at(10_500), "the end");
    refused!(
        subject
            .store
            .acquire_lease(&id, &owner("first"), at(12_000), TERM)
            .await,
        StoreError::LeaseHeld { .. },
        "the first owner's return"
    );
    let second = held("second", 10_500);
    let third = over(&subject, &id, "first", &second, 21_000).await?;
    ensure!(
        third.token > taken.token,
        "{:?} is not greater than {:?}",
        third.token,
        taken.token
    );
    subject.store.release_lease(&id, third.token).await?;
    let free = over(&subject, &id, "second", &second, 1).await?;
    ensure!(free.token > third.token, "a lease that nobody has");
    Ok(())
}

pub(super) async fn what_has_changed_is_not_taken_over(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let first = held("first", 11_000);
    for other in [
        held("first", 10_999),
        held("first", 11_001),
        held("third", 11_000),
    ] {
        refused!(
            over(&subject, &id, "second", &other, 50_000).await,
            StoreError::LeaseHeld { .. },
            "taking over {other:?}"
        );
    }
    subject
        .store
        .acquire_lease(&id, &owner("first"), at(1_001), TERM)
        .await?;
    refused!(
        over(&subject, &id, "second", &first, 50_000).await,
        StoreError::LeaseHeld { expires_at, .. } if expires_at == at(11_001),
        "taking over what was renewed"
    );
    append(subject.store.as_ref(), &id, token, 0, "key").await?;
    Ok(())
}

pub(super) async fn the_old_holder_is_fenced(subject: Subject) -> CheckResult {
    let (id, old) = leased(&subject, "ses_a").await?;
    let store = subject.store.as_ref();
    append(store, &id, old, 0, "key-1").await?;
    let new = over(&subject, &id, "second", &held("first", 11_000), 11_000)
        .await?
        .token;
    refused!(
        append(store, &id, old, 1, "key-2").await,
        StoreError::Fenced { presented, .. } if presented == old,
        "the old holder's append"
    );
    append(store, &id, new, 1, "key-3").await?;
    ensure_eq!(
        store.session(&id).await?.last_sequence,
        Sequence(2),
        "the last place"
    );
    Ok(())
}

pub(super) async fn releasing_frees_it(subject: Subject) -> CheckResult {
    let (id, first) = leased(&subject, "ses_a").await?;
    subject.store.release_lease(&id, first).await?;
    subject.store.release_lease(&id, first).await?;
    let second = subject
        .store
        .acquire_lease(&id, &owner("second"), at(1_001), TERM)
        .await?;
    ensure!(
        second.token > first,
        "{:?} is not greater than {first:?}",
        second.token
    );
    subject.store.release_lease(&id, second.token).await?;
    let again = subject
        .store
        .acquire_lease(&id, &owner("first"), at(1_002), TERM)
        .await?;
    ensure!(
        again.token > second.token,
        "{:?} is not greater than {:?}",
        again.token,
        second.token
    );
    Ok(())
}

pub(super) async fn a_stale_release_changes_nothing(subject: Subject) -> CheckResult {
    let (id, old) = leased(&subject, "ses_a").await?;
    let new = over(&subject, &id, "second", &held("first", 11_000), 11_000).await?;
    subject.store.release_lease(&id, old).await?;
    refused!(
        subject
            .store
            .acquire_lease(&id, &owner("first"), at(11_001), TERM)
            .await,
        StoreError::LeaseHeld { .. },
        "taking the lease after a stale release"
    );
    append(subject.store.as_ref(), &id, new.token, 0, "key").await?;
    Ok(())
}
