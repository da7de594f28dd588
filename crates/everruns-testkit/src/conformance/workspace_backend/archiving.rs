use std::sync::Arc;

use everruns_core::workspace::{WorkspaceError, WorkspaceHead, WorkspaceHeadState};

use super::Subject;
use super::subject::{holds, put, reopen, session};
use crate::check::CheckResult;

pub(super) async fn blocks_reopening(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    if !subject.can.archives {
        refused!(
            head.archive().await,
            WorkspaceError::Unsupported { .. },
            "archiving"
        );
        return Ok(());
    }
    let receipt = head.archive().await?;
    ensure_eq!(&receipt.head_id, head.id(), "the receipt's head");
    let mut backends = vec![Arc::clone(&subject.backend)];
    backends.extend(subject.second().await);
    for backend in backends {
        refused!(
            WorkspaceHead::reopen(Arc::clone(&backend), &head.binding()).await,
            WorkspaceError::HeadArchived { head: of } if of == *head.id(),
            "reopening an archived head"
        );
        let heads = backend.heads(head.workspace_id()).await?;
        let states: Vec<_> = heads.iter().map(|head| head.state).collect();
        ensure_eq!(states, [WorkspaceHeadState::Archived], "the states listed");
        let kept = backend.binding(head.workspace_id(), head.id()).await?;
        ensure_eq!(kept, head.binding(), "the binding that is kept");
    }
    Ok(())
}

/// Proves C13 for a backend
pub(super) async fn keeps_a_held_handle_working(subject: Subject) -> CheckResult {
    if !subject.can.archives {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "before").await?;
    head.archive().await?;
    holds(&head, "file", Some("before")).await?;
    put(&head, "file", "after").await?;
    holds(&head, "file", Some("after")).await
}

pub(super) async fn unarchiving_gives_it_back(subject: Subject) -> CheckResult {
    if !subject.can.archives {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "kept").await?;
    let unarchive = || {
        subject
            .backend
            .unarchive_head(head.workspace_id(), head.id())
    };
    // A head that is not archived stays as it is.
    unarchive().await?;
    head.archive().await?;
    unarchive().await?;
    unarchive().await?;
    let again = reopen(&head).await?;
    ensure_eq!(again.descriptor(), head.descriptor(), "the descriptor");
    holds(&again, "file", Some("kept")).await
}

pub(super) async fn is_idempotent(subject: Subject) -> CheckResult {
    if !subject.can.archives {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let first = head.archive().await?;
    ensure_eq!(head.archive().await?, first, "the second receipt");
    Ok(())
}

pub(super) async fn claims_are_refused(subject: Subject) -> CheckResult {
    if !subject.can.archives {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    head.archive().await?;
    refused!(
        head.claim(&session("ses_a")?).await,
        WorkspaceError::HeadArchived { .. },
        "claiming an archived head"
    );
    Ok(())
}
