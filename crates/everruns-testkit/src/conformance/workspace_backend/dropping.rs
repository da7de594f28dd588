use std::sync::Arc;

use everruns_core::workspace::{WorkspaceHead, WorkspaceHeadState};

use super::Subject;
use super::subject::{holds, put};
use crate::check::{CheckResult, poll_times, settle};

/// Proves C11 for a backend
pub(super) async fn handles_remove_nothing(mut subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    put(&head, "file", "work").await?;
    let (binding, descriptor) = (head.binding(), head.descriptor().clone());
    drop(head.file_system());
    drop(head);
    drop(subject.workspace().await?);
    if let Some(second) = subject.second().await {
        // The first backend itself is dropped here.
        subject.backend = second;
    }
    let again = WorkspaceHead::reopen(Arc::clone(&subject.backend), &binding).await?;
    ensure_eq!(again.descriptor(), &descriptor, "the descriptor");
    holds(&again, "file", Some("work")).await
}

/// Proves H55 for the making of heads
pub(super) async fn a_dropped_create_leaves_a_whole_head_or_none(
    mut subject: Subject,
) -> CheckResult {
    if !subject.can.many_heads {
        return Ok(());
    }
    let workspace = subject.workspace().await?;
    for polls in [0, 1, 2, 3, 5, 8, 13, 40] {
        let builder = workspace.head(format!("head {polls}"));
        let builder = if subject.can.isolated {
            builder
        } else {
            builder.shared()
        };
        if let Some(Err(error)) = poll_times(builder.create(), polls).await {
            return Err(error.into());
        }
    }
    settle().await;
    if let Some(second) = subject.second().await {
        subject.backend = second;
    }
    let workspace = subject.workspace().await?;
    for descriptor in workspace.heads().await? {
        if descriptor.state != WorkspaceHeadState::Ready {
            continue;
        }
        let head = workspace.open_head(&descriptor.id).await?;
        put(&head, "file", descriptor.name.as_str()).await?;
        holds(&head, "file", Some(descriptor.name.as_str())).await?;
    }
    // No lock is left behind.
    subject.head("one more").await?;
    Ok(())
}
