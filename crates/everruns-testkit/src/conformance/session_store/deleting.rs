use everruns_core::session::{EventQuery, Sequence, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use super::Subject;
use super::samples::{append, at, binding, leased, owner, session};
use crate::check::CheckResult;

pub(super) async fn refused_while_leased(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    append(subject.store.as_ref(), &id, token, 0, "key").await?;
    refused!(
        subject.store.delete(&id, at(10_999)).await,
        StoreError::LeaseHeld { owner: holder, .. } if holder == owner("first"),
        "deleting a session that is being executed"
    );
    ensure_eq!(
        subject.store.session(&id).await?.last_sequence,
        Sequence(1),
        "the last place"
    );
    // An expired lease is nobody's.
    subject.store.delete(&id, at(11_000)).await?;
    Ok(())
}

pub(super) async fn forgets_all(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    append(subject.store.as_ref(), &id, token, 0, "key").await?;
    subject.store.release_lease(&id, token).await?;
    subject.store.delete(&id, at(1_500)).await?;
    refused!(
        subject.store.session(&id).await,
        StoreError::NotFound { .. },
        "the session"
    );
    let events = subject.store.events(&id, EventQuery::last(1)).await;
    refused!(events, StoreError::NotFound { .. }, "its events");
    refused!(
        subject.store.delete(&id, at(1_600)).await,
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
    subject.store.delete(&a, at(2)).await?;
    subject.store.bind(&b, head).await?;
    Ok(())
}

pub(super) async fn spares_others(subject: Subject) -> CheckResult {
    let (a, token_a) = leased(&subject, "ses_a").await?;
    let (b, token_b) = leased(&subject, "ses_b").await?;
    append(subject.store.as_ref(), &b, token_b, 0, "key").await?;
    subject.store.release_lease(&a, token_a).await?;
    subject.store.delete(&a, at(2_000)).await?;
    append(subject.store.as_ref(), &b, token_b, 1, "key-2").await?;
    ensure_eq!(
        subject.store.session(&b).await?.last_sequence,
        Sequence(2),
        "the other's events"
    );
    Ok(())
}
