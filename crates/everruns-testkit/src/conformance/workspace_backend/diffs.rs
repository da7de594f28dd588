use everruns_core::workspace::{FileChange, WorkspaceDiff};

use super::Subject;
use super::subject::{put, remove};
use crate::check::CheckResult;

fn changes(diff: &WorkspaceDiff) -> Vec<(&str, FileChange)> {
    diff.files
        .iter()
        .map(|file| (file.path.as_str(), file.change))
        .collect()
}

pub(super) async fn a_fresh_head_has_none(subject: Subject) -> CheckResult {
    if !subject.can.tracks_changes {
        return Ok(());
    }
    let diff = subject.head("mine").await?.diff().await?;
    ensure!(
        !diff.changed && diff.files.is_empty(),
        "a fresh head differs: {diff:?}"
    );
    Ok(())
}

pub(super) async fn tell_what_changed(subject: Subject) -> CheckResult {
    if !subject.can.tracks_changes {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "text", "one\ntwo\n").await?;
    put(&head, "binary", "a\0b").await?;
    let diff = head.diff().await?;
    ensure!(diff.changed, "new files are no change");
    let expected = [("binary", FileChange::Added), ("text", FileChange::Added)];
    ensure_eq!(changes(&diff), expected, "the changes");
    ensure_eq!(
        (diff.added(), diff.removed()),
        (2, 0),
        "the lines added and removed"
    );
    ensure!(
        diff.files[0].binary && !diff.files[1].binary,
        "what is binary: {diff:?}"
    );
    remove(&head, "text").await?;
    remove(&head, "binary").await?;
    let diff = head.diff().await?;
    ensure!(
        !diff.changed,
        "changes that were undone still show: {diff:?}"
    );
    Ok(())
}

pub(super) async fn since_a_checkpoint(subject: Subject) -> CheckResult {
    if !subject.can.tracks_changes || !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "changed", "one\ntwo\nthree\n").await?;
    put(&head, "gone", "completely different text\n").await?;
    let checkpoint = head.checkpoint().await?;
    let diff = head.diff_since(&checkpoint).await?;
    ensure!(
        !diff.changed && diff.files.is_empty(),
        "the present state differs from itself: {diff:?}"
    );
    put(&head, "changed", "one\n2\nthree\n").await?;
    put(&head, "new", "x\n").await?;
    remove(&head, "gone").await?;
    let diff = head.diff_since(&checkpoint).await?;
    let expected = [
        ("changed", FileChange::Modified),
        ("gone", FileChange::Deleted),
        ("new", FileChange::Added),
    ];
    ensure_eq!(changes(&diff), expected, "the changes");
    ensure_eq!(
        (diff.added(), diff.removed()),
        (2, 2),
        "the lines added and removed"
    );
    Ok(())
}
