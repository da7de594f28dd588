use everruns_core::file_system::{Precondition, Removal};
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{WorkspaceCheckpoint, WorkspaceError, WorkspaceHeadAccess};

use super::Subject;
use super::subject::{holds, put, reopen};
use crate::check::CheckResult;

/// Proves C10 for a backend
pub(super) async fn hold_uncommitted_work(subject: Subject) -> CheckResult {
    if !subject.can.forks {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "folder/work", "uncommitted").await?;
    put(&head, "empty", "").await?;
    let before = if subject.can.tracks_changes {
        Some(head.status().await?)
    } else {
        None
    };
    let fork = head.fork("fork").await?;
    ensure!(fork.id() != head.id(), "the fork has its origin's id");
    holds(&fork, "folder/work", Some("uncommitted")).await?;
    holds(&fork, "empty", Some("")).await?;
    if let Some(before) = before {
        ensure_eq!(head.status().await?, before, "the origin's status");
        ensure_eq!(
            fork.status().await?.entries,
            before.entries,
            "the fork's status"
        );
    }
    let again = reopen(&fork).await?;
    holds(&again, "folder/work", Some("uncommitted")).await
}

pub(super) async fn are_independent(subject: Subject) -> CheckResult {
    if !subject.can.forks {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "common").await?;
    let fork = head.fork("fork").await?;
    put(&fork, "file", "fork").await?;
    put(&fork, "only-fork", "x").await?;
    holds(&head, "file", Some("common")).await?;
    holds(&head, "only-fork", None).await?;
    put(&head, "file", "origin").await?;
    holds(&fork, "file", Some("fork")).await
}

pub(super) async fn know_their_origin(subject: Subject) -> CheckResult {
    if !subject.can.forks {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let fork = head.fork("fork").await?;
    ensure_eq!(
        fork.descriptor().forked_from.as_ref(),
        Some(head.id()),
        "the origin"
    );
    ensure_eq!(fork.access(), WorkspaceHeadAccess::Isolated, "the access");
    ensure_eq!(fork.workspace_id(), head.workspace_id(), "the workspace");
    let listed = subject.workspace().await?.heads().await?;
    ensure_eq!(
        listed,
        [head.descriptor().clone(), fork.descriptor().clone()],
        "the heads"
    );
    Ok(())
}

pub(super) async fn names_are_unique(subject: Subject) -> CheckResult {
    if !subject.can.forks {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.fork("mine").await,
        WorkspaceError::NameTaken { .. },
        "a fork of its origin's name"
    );
    refused!(
        head.fork("a\nb").await,
        WorkspaceError::InvalidName { .. },
        "a fork of a bad name"
    );
    ensure_eq!(
        subject.workspace().await?.heads().await?.len(),
        1,
        "the heads"
    );
    Ok(())
}

pub(super) async fn unsupported_is_told(subject: Subject) -> CheckResult {
    if subject.can.forks {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.fork("fork").await,
        WorkspaceError::Unsupported { .. },
        "a fork"
    );
    Ok(())
}

/// Whoever can't fork from a checkpoint says so, and makes nothing.
pub(super) async fn of_a_checkpoint_have_its_state(subject: Subject) -> CheckResult {
    if !subject.can.forks || !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "then").await?;
    put(&head, "only-then", "x").await?;
    let kept = head.checkpoint().await?;
    put(&head, "file", "now").await?;
    let path = WorkspacePath::parse("only-then")?;
    let files = head.file_system();
    files
        .remove(&path, Removal::Entry, Precondition::Any)
        .await?;
    let fork = match head.fork_from("fork", &kept).await {
        Err(WorkspaceError::Unsupported { .. }) => {
            let heads = subject.workspace().await?.heads().await?;
            ensure_eq!(heads.len(), 1, "the heads");
            return Ok(());
        }
        forked => forked?,
    };
    holds(&fork, "file", Some("then")).await?;
    holds(&fork, "only-then", Some("x")).await?;
    holds(&head, "file", Some("now")).await?;
    holds(&head, "only-then", None).await?;
    ensure_eq!(
        fork.descriptor().forked_from.as_ref(),
        Some(head.id()),
        "the origin"
    );
    let unknown = WorkspaceCheckpoint {
        revision: "nothing".to_owned(),
        ..kept
    };
    refused!(
        head.fork_from("other", &unknown).await,
        WorkspaceError::CheckpointNotFound { .. },
        "a fork from a checkpoint that is not there"
    );
    Ok(())
}
