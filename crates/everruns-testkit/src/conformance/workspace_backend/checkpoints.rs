use std::sync::Arc;

use everruns_core::workspace::{WorkspaceCheckpoint, WorkspaceError, WorkspaceHead};

use super::Subject;
use super::subject::{holds, put, remove};
use crate::check::CheckResult;

pub(super) async fn restore_brings_back_the_files(subject: Subject) -> CheckResult {
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    for (path, text) in [("same", "same"), ("changed", "old"), ("gone/file", "old")] {
        put(&head, path, text).await?;
    }
    let early = head.checkpoint().await?;
    put(&head, "changed", "new").await?;
    put(&head, "added/file", "new").await?;
    remove(&head, "gone/file").await?;
    let receipt = head.restore(&early).await?;
    for (path, text) in [("same", "same"), ("changed", "old"), ("gone/file", "old")] {
        holds(&head, path, Some(text)).await?;
    }
    holds(&head, "added/file", None).await?;
    ensure_eq!(
        receipt.changed,
        ["added/file", "changed", "gone/file"],
        "what was changed"
    );
    // The state before the restore was kept first, so that a restore can be undone.
    head.restore(&receipt.before).await?;
    holds(&head, "changed", Some("new")).await?;
    holds(&head, "added/file", Some("new")).await?;
    holds(&head, "gone/file", None).await
}

pub(super) async fn change_nothing(subject: Subject) -> CheckResult {
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "text").await?;
    let before = if subject.can.tracks_changes {
        Some(head.status().await?)
    } else {
        None
    };
    let checkpoint = head.checkpoint().await?;
    ensure_eq!(&checkpoint.head_id, head.id(), "the checkpoint's head");
    ensure!(
        checkpoint.uncommitted,
        "the checkpoint holds no uncommitted work"
    );
    holds(&head, "file", Some("text")).await?;
    if let Some(before) = before {
        ensure_eq!(head.status().await?, before, "the status");
    }
    Ok(())
}

pub(super) async fn the_same_state_has_one_revision(subject: Subject) -> CheckResult {
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let clean = head.checkpoint().await?;
    ensure_eq!(
        head.checkpoint().await?.revision,
        clean.revision,
        "the clean state again"
    );
    put(&head, "file", "text").await?;
    let dirty = head.checkpoint().await?;
    ensure!(
        dirty.revision != clean.revision,
        "two states have one revision"
    );
    ensure_eq!(
        head.checkpoint().await?.revision,
        dirty.revision,
        "the dirty state again"
    );
    Ok(())
}

pub(super) async fn are_listed(subject: Subject) -> CheckResult {
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let mut taken = Vec::new();
    for label in ["first", "second", "third"] {
        put(&head, "file", label).await?;
        let checkpoint = head.checkpoint_labelled(label).await?;
        ensure_eq!(checkpoint.label.as_deref(), Some(label), "the label");
        taken.push(checkpoint);
    }
    ensure!(
        taken.windows(2).all(|pair| pair[0].number < pair[1].number),
        "numbers: {taken:?}"
    );
    ensure_eq!(head.checkpoints().await?, taken, "the checkpoints");
    Ok(())
}

pub(super) async fn unknown_ones_are_refused(subject: Subject) -> CheckResult {
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "text").await?;
    let real = head.checkpoint().await?;
    for revision in [
        "0000000000000000000000000000000000000000",
        "no such",
        "--output=x",
        "",
    ] {
        let forged = WorkspaceCheckpoint {
            revision: revision.to_owned(),
            number: 99,
            ..real.clone()
        };
        refused!(
            head.restore(&forged).await,
            WorkspaceError::CheckpointNotFound { .. },
            "restoring the revision {revision:?}"
        );
        if subject.can.tracks_changes {
            refused!(
                head.diff_since(&forged).await,
                WorkspaceError::CheckpointNotFound { .. },
                "the difference to the revision {revision:?}"
            );
        }
    }
    holds(&head, "file", Some("text")).await
}

pub(super) async fn unsupported_is_told(subject: Subject) -> CheckResult {
    if subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.checkpoint().await,
        WorkspaceError::Unsupported { .. },
        "a checkpoint"
    );
    Ok(())
}

pub(super) async fn outlive_the_process(subject: Subject) -> CheckResult {
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "early").await?;
    let early = head.checkpoint_labelled("early").await?;
    put(&head, "file", "late").await?;
    let again = WorkspaceHead::reopen(Arc::clone(&second), &head.binding()).await?;
    ensure_eq!(
        again.checkpoints().await?,
        std::slice::from_ref(&early),
        "the checkpoints"
    );
    again.restore(&early).await?;
    holds(&again, "file", Some("early")).await
}

pub(super) async fn serve_other_heads(subject: Subject) -> CheckResult {
    if !subject.can.checkpoints || !subject.can.many_heads {
        return Ok(());
    }
    let (one, two) = (subject.head("one").await?, subject.head("two").await?);
    put(&one, "file", "of one").await?;
    let checkpoint = one.checkpoint().await?;
    two.restore(&checkpoint).await?;
    holds(&two, "file", Some("of one")).await
}
