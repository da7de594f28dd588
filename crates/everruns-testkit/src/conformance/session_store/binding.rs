use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceHeadAccess::{Isolated, Shared};

use super::Subject;
use super::samples::{binding, session};
use crate::check::CheckResult;

/// Proves C14 for a store: what was bound is what a resume gets
pub(super) async fn is_kept_exactly(subject: Subject) -> CheckResult {
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    let head = binding("ws", "head", Isolated)?;
    subject.store.bind(&a, head.clone()).await?;
    let found = subject.store.session(&a).await?.binding;
    ensure_eq!(found, Some(head), "the binding");
    Ok(())
}

pub(super) async fn the_same_again_is_no_error(subject: Subject) -> CheckResult {
    for (text, access) in [("ses_a", Isolated), ("ses_b", Shared)] {
        let id = subject.store.create(session(text, 1)?).await?.id;
        let head = binding("ws", text, access)?;
        subject.store.bind(&id, head.clone()).await?;
        subject.store.bind(&id, head).await?;
    }
    Ok(())
}

pub(super) async fn another_head_is_refused(subject: Subject) -> CheckResult {
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    let first = binding("ws", "head", Isolated)?;
    subject.store.bind(&a, first.clone()).await?;
    for other in [
        binding("ws", "other", Isolated)?,
        binding("ws-2", "head", Isolated)?,
        binding("ws", "head", Shared)?,
    ] {
        refused!(
            subject.store.bind(&a, other).await,
            StoreError::AlreadyBound { session, head } if session == a && head == first.head_id,
            "a second binding"
        );
    }
    ensure_eq!(
        subject.store.session(&a).await?.binding,
        Some(first),
        "the binding"
    );
    Ok(())
}

/// Proves C06 within one store
pub(super) async fn an_isolated_head_serves_one_session(subject: Subject) -> CheckResult {
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    let b = subject.store.create(session("ses_b", 2)?).await?.id;
    let head = binding("ws", "head", Isolated)?;
    subject.store.bind(&a, head.clone()).await?;
    refused!(
        subject.store.bind(&b, head.clone()).await,
        StoreError::HeadBound { session, head: bound } if session == a && bound == head.head_id,
        "binding an isolated head again"
    );
    ensure_eq!(
        subject.store.session(&b).await?.binding,
        None,
        "the second session's binding"
    );
    subject
        .store
        .bind(&b, binding("ws", "other", Isolated)?)
        .await?;
    Ok(())
}

/// Proves C07 for a store
pub(super) async fn a_shared_head_serves_many(subject: Subject) -> CheckResult {
    let head = binding("ws", "head", Shared)?;
    for text in ["ses_a", "ses_b", "ses_c"] {
        let id = subject.store.create(session(text, 1)?).await?.id;
        subject.store.bind(&id, head.clone()).await?;
        let found = subject.store.session(&id).await?.binding;
        ensure_eq!(found.as_ref(), Some(&head), "the binding of {text}");
    }
    Ok(())
}

pub(super) async fn refused_binds_change_nothing(subject: Subject) -> CheckResult {
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    let b = subject.store.create(session("ses_b", 2)?).await?.id;
    let (first, second) = (binding("ws", "1", Isolated)?, binding("ws", "2", Isolated)?);
    subject.store.bind(&a, first.clone()).await?;
    refused!(
        subject.store.bind(&a, second.clone()).await,
        StoreError::AlreadyBound { .. },
        "a"
    );
    // The head that the refused bind wanted is still free.
    subject.store.bind(&b, second).await?;
    let before = subject.store.session(&a).await?;
    refused!(
        subject.store.bind(&b, first).await,
        StoreError::AlreadyBound { .. } | StoreError::HeadBound { .. },
        "b"
    );
    ensure_eq!(
        subject.store.session(&a).await?,
        before,
        "the first session"
    );
    Ok(())
}
