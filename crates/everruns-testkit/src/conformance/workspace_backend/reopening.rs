use std::sync::Arc;

use everruns_core::ids::WorkspaceHeadId;
use everruns_core::workspace::{WorkspaceError, WorkspaceHead};

use super::Subject;
use super::subject::{holds, put, reopen};
use crate::check::CheckResult;

/// Proves C03 for a backend
pub(super) async fn gives_the_same_head(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    put(&head, "folder/file", "uncommitted").await?;
    let again = reopen(&head).await?;
    ensure_eq!(again.descriptor(), head.descriptor(), "the descriptor");
    ensure_eq!(again.binding(), head.binding(), "the binding");
    holds(&again, "folder/file", Some("uncommitted")).await?;
    put(&again, "folder/file", "again").await?;
    holds(&head, "folder/file", Some("again")).await
}

pub(super) async fn after_a_restart(subject: Subject) -> CheckResult {
    if !subject.backend.is_durable() {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "folder/file", "uncommitted").await?;
    let (binding, descriptor) = (head.binding(), head.descriptor().clone());
    drop(head);
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    // A resume has the binding alone: nothing opens the workspace first.
    let again = WorkspaceHead::reopen(Arc::clone(&second), &binding).await?;
    ensure_eq!(again.descriptor(), &descriptor, "the descriptor");
    ensure_eq!(again.binding(), binding, "the binding");
    holds(&again, "folder/file", Some("uncommitted")).await?;
    ensure_eq!(
        second.heads(&binding.workspace_id).await?,
        [descriptor],
        "the heads"
    );
    Ok(())
}

pub(super) async fn through_the_workspace(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    let workspace = subject.workspace().await?;
    let kept = subject.backend.binding(workspace.id(), head.id()).await?;
    ensure_eq!(kept, head.binding(), "the binding that the backend keeps");
    let again = workspace.open_head(head.id()).await?;
    ensure_eq!(again.descriptor(), head.descriptor(), "the descriptor");
    Ok(())
}

pub(super) async fn unknown_heads_are_not_found(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    let (workspace, unknown) = (head.workspace_id(), WorkspaceHeadId::new("head_no-such")?);
    refused!(
        subject.backend.binding(workspace, &unknown).await,
        WorkspaceError::HeadNotFound { head } if head == unknown,
        "the binding of an unknown head"
    );
    refused!(
        subject.backend.unarchive_head(workspace, &unknown).await,
        WorkspaceError::HeadNotFound { .. },
        "unarchiving an unknown head"
    );
    let mut binding = head.binding();
    binding.head_id = unknown;
    refused!(
        subject.backend.reopen_head(&binding).await,
        WorkspaceError::HeadNotFound { .. }
            | WorkspaceError::BindingCorrupt { .. }
            | WorkspaceError::IdentityMismatch { .. },
        "reopening an unknown head"
    );
    Ok(())
}
