use everruns_core::workspace::{WorkspaceError, WorkspaceHead, WorkspaceHeadState};

use super::Subject;
use super::subject::{holds, put, reopen, session};
use crate::check::CheckResult;

pub(super) async fn blocks_reopening(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    if !subject.can.destroys {
        refused!(
            head.destroy().await,
            WorkspaceError::Unsupported { .. },
            "destroying"
        );
        return Ok(());
    }
    let receipt = head.destroy().await?;
    ensure_eq!(&receipt.head_id, head.id(), "the receipt's head");
    refused!(
        subject.backend.reopen_head(&head.binding()).await.map(drop),
        WorkspaceError::HeadDestroyed { head: of, .. } if of == *head.id(),
        "reopening a destroyed head"
    );
    let unarchived = subject
        .backend
        .unarchive_head(head.workspace_id(), head.id())
        .await;
    refused!(
        unarchived,
        WorkspaceError::HeadDestroyed { .. },
        "unarchiving a destroyed head"
    );
    let states: Vec<_> = subject
        .workspace()
        .await?
        .heads()
        .await?
        .iter()
        .map(|head| head.state)
        .collect();
    ensure_eq!(states, [WorkspaceHeadState::Destroyed], "the states listed");
    Ok(())
}

pub(super) async fn is_idempotent(subject: Subject) -> CheckResult {
    if !subject.can.destroys {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "work").await?;
    let first = head.destroy().await?;
    ensure_eq!(head.destroy().await?, first, "the second receipt");
    Ok(())
}

/// Proves C12 for a backend: what was not committed is kept, named, and can be had again
pub(super) async fn keeps_uncommitted_work(subject: Subject) -> CheckResult {
    if !subject.can.destroys || !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "folder/work", "hours of it").await?;
    let receipt = head.destroy().await?;
    ensure!(
        receipt.kept_ref.is_some(),
        "the receipt names no place for the work: {receipt:?}"
    );
    let Some(checkpoint) = receipt.checkpoint else {
        return Err(crate::check::Failure::new(
            "the receipt holds no checkpoint of the work",
        ));
    };
    refused!(
        subject.backend.reopen_head(&head.binding()).await.map(drop),
        WorkspaceError::HeadDestroyed { kept: Some(_), .. },
        "reopening a destroyed head with work"
    );
    if subject.can.many_heads {
        let next = subject.head("next").await?;
        next.restore(&checkpoint).await?;
        holds(&next, "folder/work", Some("hours of it")).await?;
    }
    Ok(())
}

pub(super) async fn frees_the_name(subject: Subject) -> CheckResult {
    if !subject.can.destroys || !subject.can.many_heads {
        return Ok(());
    }
    let first = subject.head("mine").await?;
    put(&first, "file", "old").await?;
    first.destroy().await?;
    let second = subject.head("mine").await?;
    ensure!(
        first.id() != second.id(),
        "an id came to mean other content"
    );
    holds(&second, "file", None).await?;
    refused!(
        subject
            .backend
            .reopen_head(&first.binding())
            .await
            .map(drop),
        WorkspaceError::HeadDestroyed { .. },
        "reopening the destroyed head after its name was given again"
    );
    Ok(())
}

pub(super) async fn ends_every_operation(subject: Subject) -> CheckResult {
    if !subject.can.destroys {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "work").await?;
    head.destroy().await?;
    let claim = head.claim(&session("ses_a")?).await;
    refused!(claim, WorkspaceError::HeadDestroyed { .. }, "claiming");
    refused!(
        head.archive().await,
        WorkspaceError::HeadDestroyed { .. },
        "archiving"
    );
    if subject.can.tracks_changes {
        refused!(
            head.status().await,
            WorkspaceError::HeadDestroyed { .. },
            "its status"
        );
        refused!(
            head.diff().await,
            WorkspaceError::HeadDestroyed { .. },
            "its difference"
        );
    }
    if subject.can.checkpoints {
        refused!(
            head.checkpoint().await,
            WorkspaceError::HeadDestroyed { .. },
            "a checkpoint"
        );
    }
    if subject.can.forks {
        refused!(
            head.fork("fork").await,
            WorkspaceError::HeadDestroyed { .. },
            "a fork"
        );
    }
    let written = put(&head, "file", "after the end").await;
    ensure!(written.is_err(), "a destroyed head was written");
    Ok(())
}

pub(super) async fn is_known_after_a_restart(subject: Subject) -> CheckResult {
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    if !subject.can.destroys {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    head.destroy().await?;
    refused!(
        WorkspaceHead::reopen(second, &head.binding()).await,
        WorkspaceError::HeadDestroyed { .. },
        "reopening a destroyed head after a restart"
    );
    Ok(())
}

/// Proves H54 for a backend: no handle destroys a head that is held, not even the one that holds it
pub(super) async fn waits_for_those_at_work(subject: Subject) -> CheckResult {
    if !subject.can.destroys {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let (a, b) = (session("ses_a")?, session("ses_b")?);
    put(&head, "file", "work").await?;
    head.claim(&a).await?;
    let mut handles = vec![head.clone(), reopen(&head).await?];
    if let Some(second) = subject.second().await {
        handles.push(WorkspaceHead::reopen(second, &head.binding()).await?);
    }
    let holds_of_a = head.hold(&a).await?;
    let holds_of_b = handles[1].hold(&b).await?;
    for hold in [holds_of_a, holds_of_b] {
        for handle in &handles {
            refused!(
                handle.destroy().await,
                WorkspaceError::HeadBusy { head: of, .. } if of == *head.id(),
                "destroying a head that is held"
            );
        }
        holds(&head, "file", Some("work")).await?;
        drop(hold);
    }
    // A claim without anybody at work is of a session that is idle, or whose process is gone.
    let receipt = handles[1].destroy().await?;
    ensure_eq!(head.destroy().await?, receipt, "the second receipt");
    refused!(
        head.hold(&a).await,
        WorkspaceError::HeadDestroyed { .. },
        "holding a destroyed head"
    );
    Ok(())
}
