use std::sync::Arc;

use everruns_core::workspace::{WorkspaceError, WorkspaceHead, WorkspaceHeadState};

use super::Subject;
use super::subject::{get, holds, put};
use crate::check::{CheckResult, Failure, poll_times, settle};

/// How many polls an operation gets before it is dropped, in turn.
const POLLS: [usize; 7] = [0, 1, 2, 3, 5, 8, 40];

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
    for polls in POLLS {
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

/// Proves H55 for forks
pub(super) async fn a_dropped_fork_leaves_its_origin_whole(mut subject: Subject) -> CheckResult {
    if !subject.can.forks {
        return Ok(());
    }
    let head = subject.head("origin").await?;
    put(&head, "folder/work", "uncommitted").await?;
    for polls in POLLS {
        if let Some(Err(error)) = poll_times(head.fork(format!("fork {polls}")), polls).await {
            return Err(error.into());
        }
    }
    settle().await;
    holds(&head, "folder/work", Some("uncommitted")).await?;
    if let Some(second) = subject.second().await {
        subject.backend = second;
    }
    let workspace = subject.workspace().await?;
    for descriptor in workspace.heads().await? {
        if descriptor.state == WorkspaceHeadState::Ready {
            let head = workspace.open_head(&descriptor.id).await?;
            holds(&head, "folder/work", Some("uncommitted")).await?;
        }
    }
    Ok(())
}

/// Proves H55 for restores: the files of one state or of the other
pub(super) async fn a_dropped_restore_leaves_one_state(mut subject: Subject) -> CheckResult {
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "a", "early").await?;
    put(&head, "b/c", "early").await?;
    let early = head.checkpoint().await?;
    for polls in POLLS {
        put(&head, "a", "late").await?;
        put(&head, "b/c", "late").await?;
        if let Some(Err(error)) = poll_times(head.restore(&early), polls).await {
            return Err(error.into());
        }
        settle().await;
        if let Some(second) = subject.second().await {
            subject.backend = second;
        }
        let backend = Arc::clone(&subject.backend);
        let again = WorkspaceHead::reopen(backend, &head.binding()).await?;
        let found = (get(&again, "a").await?, get(&again, "b/c").await?);
        let found = (found.0.as_deref(), found.1.as_deref());
        let whole = [(Some("early"), Some("early")), (Some("late"), Some("late"))];
        ensure!(
            whole.contains(&found),
            "after {polls} polls the files are {found:?}"
        );
    }
    Ok(())
}

/// Proves H55 for destroying: the head with its work, or its work kept
pub(super) async fn a_dropped_destroy_loses_no_work(mut subject: Subject) -> CheckResult {
    if !subject.can.destroys || !subject.can.checkpoints || !subject.can.many_heads {
        return Ok(());
    }
    for polls in POLLS {
        let head = subject.head(&format!("head {polls}")).await?;
        put(&head, "work", "hours of it").await?;
        if let Some(Err(error)) = poll_times(head.destroy(), polls).await {
            return Err(error.into());
        }
        settle().await;
        if let Some(second) = subject.second().await {
            subject.backend = second;
        }
        let backend = Arc::clone(&subject.backend);
        match WorkspaceHead::reopen(backend, &head.binding()).await {
            Ok(again) => holds(&again, "work", Some("hours of it")).await?,
            Err(WorkspaceError::HeadDestroyed { kept: Some(_), .. }) => {
                let Some(checkpoint) = head.destroy().await?.checkpoint else {
                    return Err(Failure::new("a destroyed head with work has no checkpoint"));
                };
                let next = subject.head(&format!("next {polls}")).await?;
                next.restore(&checkpoint).await?;
                holds(&next, "work", Some("hours of it")).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
