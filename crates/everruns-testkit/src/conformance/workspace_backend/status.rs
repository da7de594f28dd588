use everruns_core::workspace::WorkspaceError;

use super::Subject;
use super::subject::{put, remove};
use crate::check::CheckResult;

pub(super) async fn clean_and_dirty(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    if !subject.can.tracks_changes {
        // Such a backend may know nothing, but must not claim to have looked.
        if let Err(error) = head.status().await {
            refused!(
                Err::<(), _>(error),
                WorkspaceError::Unsupported { .. },
                "a status"
            );
        }
        return Ok(());
    }
    let fresh = head.status().await?;
    ensure!(
        !fresh.dirty && fresh.entries.is_empty(),
        "a fresh head is dirty: {fresh:?}"
    );
    put(&head, "new", "text").await?;
    ensure!(
        head.status().await?.dirty,
        "a head with a new file is clean"
    );
    remove(&head, "new").await?;
    let after = head.status().await?;
    ensure!(
        !after.dirty && after.entries.is_empty(),
        "without the file it is dirty: {after:?}"
    );
    ensure!(!after.conflicted, "a head without conflicts has some");
    Ok(())
}

pub(super) async fn lists_what_differs(subject: Subject) -> CheckResult {
    if !subject.can.tracks_changes {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "z", "1").await?;
    put(&head, "a b", "1").await?;
    let paths: Vec<_> = head
        .status()
        .await?
        .entries
        .into_iter()
        .map(|entry| entry.path)
        .collect();
    ensure_eq!(paths, ["a b", "z"], "the paths");
    Ok(())
}

pub(super) async fn tells_archived(subject: Subject) -> CheckResult {
    if !subject.can.tracks_changes || !subject.can.archives {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    ensure!(!head.status().await?.archived, "a fresh head is archived");
    head.archive().await?;
    ensure!(
        head.status().await?.archived,
        "an archived head is not told to be"
    );
    Ok(())
}
