use everruns_core::session::{EventQuery, Sequence, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use super::Subject;
use super::samples::{append, binding, held, id, leased, over, owner, session};
use crate::check::CheckResult;

pub(super) async fn refused_while_leased(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    append(subject.store.as_ref(), &id, token, 0, "key").await?;
    refused!(
        subject.store.delete(&id, None).await,
        StoreError::LeaseHeld { owner: holder, .. } if holder == owner("first"),
        "deleting a session that is being executed"
    );
    ensure_eq!(
        subject.store.session(&id).await?.last_sequence,
        Sequence(1),
        "the last place"
    );
    Ok(())
}

/// Proves H53 for deletions: who was taken over from removes nothing.
pub(super) async fn needs_the_present_lease(subject: Subject) -> CheckResult {
    let (id, old) = leased(&subject, "ses_a").await?;
    let new = over(&subject, &id, "second", &held("first", 11_000), 1_000).await?;
    refused!(
        subject.store.delete(&id, Some(old)).await,
        StoreError::Fenced { presented, .. } if presented == old,
        "deleting with a lease that was taken over"
    );
    subject.store.session(&id).await?;
    subject.store.delete(&id, Some(new.token)).await?;
    refused!(
        subject.store.session(&id).await,
        StoreError::NotFound { .. },
        "the session"
    );
    let (id, ended) = leased(&subject, "ses_b").await?;
    subject.store.release_lease(&id, ended).await?;
    refused!(
        subject.store.delete(&id, Some(ended)).await,
        StoreError::Fenced { .. },
        "deleting with a lease that was given up"
    );
    Ok(())
}

pub(super) async fn forgets_all(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    append(subject.store.as_ref(), &id, token, 0, "key").await?;
    subject.store.release_lease(&id, token).await?;
    subject.store.delete(&id, None).await?;
    refused!(
        subject.store.session(&id).await,
        StoreError::NotFound { .. },
        "the session"
    );
    let events = subject.store.events(&id, EventQuery::last(1)).await;
    refused!(events, StoreError::NotFound { .. }, "its events");
    refused!(
        subject.store.delete(&id, None).await,
        StoreError::NotFound { .. },
        "deleting again"
    );
    subject.store.create(session("ses_a", 2_000)?).await?;
    let page = subject.store.events(&id, EventQuery::last(1)).await?;
    ensure!(
        page.events.is_empty(),
        "a new session of that id has events"
    );
    Ok(())
}

pub(super) async fn frees_the_head(subject: Subject) -> CheckResult {
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    let b = subject.store.create(session("ses_b", 1)?).await?.id;
    let head = binding("ws", "head", Isolated)?;
    subject.store.bind(&a, head.clone()).await?;
    subject.store.delete(&a, None).await?;
    subject.store.bind(&b, head).await?;
    Ok(())
}

pub(super) async fn spares_others(subject: Subject) -> CheckResult {
    let (a, token_a) = leased(&subject, "ses_a").await?;
    let (b, token_b) = leased(&subject, "ses_b").await?;
    append(subject.store.as_ref(), &b, token_b, 0, "key").await?;
    subject.store.release_lease(&a, token_a).await?;
    subject.store.delete(&a, None).await?;
    append(subject.store.as_ref(), &b, token_b, 1, "key-2").await?;
    ensure_eq!(
        subject.store.session(&b).await?.last_sequence,
        Sequence(2),
        "the other's events"
    );
    Ok(())
}

/// Whether it was deleted or never was: both are not found.
pub(super) async fn is_told_from_never_made(subject: Subject) -> CheckResult {
    let store = &subject.store;
    let (unknown, unused, used) = (id("ses_a")?, id("ses_b")?, id("ses_c")?);
    store.create(session("ses_b", 1)?).await?;
    let (_, token) = leased(&subject, "ses_c").await?;
    append(store.as_ref(), &used, token, 0, "key").await?;
    for session in [&unknown, &unused, &used] {
        ensure!(
            !store.is_deleted(session).await?,
            "{session} is taken for a deleted one"
        );
    }
    store.delete(&unused, None).await?;
    store.delete(&used, Some(token)).await?;
    for session in [&unused, &used] {
        ensure!(
            store.is_deleted(session).await?,
            "{session} is taken for one that never was"
        );
    }
    ensure!(
        !store.is_deleted(&unknown).await?,
        "{unknown} is taken for a deleted one"
    );
    for name in ["ses_b", "ses_c"] {
        let again = store.create(session(name, 2)?).await?.id;
        ensure!(
            !store.is_deleted(&again).await?,
            "{again}, which is recorded again, is taken for a deleted one"
        );
        store.delete(&again, None).await?;
        ensure!(
            store.is_deleted(&again).await?,
            "{again}, which is deleted again, is taken for one that never was"
        );
    }
    Ok(())
}

/// Proves H53 for an id that is used again: who has the lease of the deleted session writes nothing into the new one.
pub(super) async fn tokens_go_on(subject: Subject) -> CheckResult {
    let (id, old) = leased(&subject, "ses_a").await?;
    subject.store.delete(&id, Some(old)).await?;
    let (_, new) = leased(&subject, "ses_a").await?;
    ensure!(new > old, "{new:?} is not greater than {old:?}");
    refused!(
        append(subject.store.as_ref(), &id, old, 0, "key").await,
        StoreError::Fenced { presented, .. } if presented == old,
        "appending with the lease of the deleted session"
    );
    Ok(())
}
