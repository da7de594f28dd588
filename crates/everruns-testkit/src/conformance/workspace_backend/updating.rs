use everruns_core::workspace::{
    CommitRequest, MergeOutcome, UpdateOutcome, UpdateRequest, WorkspaceError, WorkspaceHead,
};

use super::Subject;
use super::committing::{commit, request};
use super::subject::{get, holds, put};
use crate::check::{CheckResult, Failure};

/// The branch, and a head that brings work of others into it; `None` where there can be no updates.
async fn another(subject: &Subject) -> Result<Option<(String, WorkspaceHead)>, Failure> {
    let branch = subject.can.merges_into.clone();
    let branch = branch.filter(|_| subject.can.commits && subject.can.many_heads);
    match branch {
        Some(branch) => Ok(Some((branch, subject.head("other").await?))),
        None => Ok(None),
    }
}

async fn merge(head: &WorkspaceHead, branch: &str) -> CheckResult {
    match head.merge_into(branch).await? {
        MergeOutcome::Merged { .. } => Ok(()),
        outcome => Err(Failure::new(format!("the merge gave {outcome:?}"))),
    }
}

async fn update(head: &WorkspaceHead, branch: &str) -> Result<UpdateOutcome, Failure> {
    let request = UpdateRequest {
        branch: branch.to_owned(),
        message: None,
        author: request("").author,
    };
    Ok(head.update(request).await?)
}

pub(super) async fn brings_what_the_branch_got(subject: Subject) -> CheckResult {
    let Some((branch, other)) = another(&subject).await? else {
        return Ok(());
    };
    let head = subject.head("mine").await?;
    ensure_eq!(
        update(&head, &branch).await?,
        UpdateOutcome::UpToDate,
        "an update before anything happened"
    );
    put(&other, "theirs", "1").await?;
    merge(&other, &branch).await?;
    put(&head, "local", "1").await?;
    let outcome = update(&head, &branch).await?;
    ensure!(
        matches!(outcome, UpdateOutcome::FastForwarded { .. }),
        "the update gave {outcome:?}"
    );
    holds(&head, "theirs", Some("1")).await?;
    holds(&head, "local", Some("1")).await?;
    let entries = head.status().await?.entries;
    ensure!(
        entries.len() == 1 && entries[0].path == "local",
        "what is uncommitted: {entries:?}"
    );
    ensure_eq!(
        update(&head, &branch).await?,
        UpdateOutcome::UpToDate,
        "updating again"
    );
    Ok(())
}

pub(super) async fn joins_both_sides(subject: Subject) -> CheckResult {
    let Some((branch, other)) = another(&subject).await? else {
        return Ok(());
    };
    let head = subject.head("mine").await?;
    put(&head, "mine", "1").await?;
    commit(&head).await?;
    put(&other, "theirs", "1").await?;
    merge(&other, &branch).await?;
    let outcome = update(&head, &branch).await?;
    ensure!(
        matches!(outcome, UpdateOutcome::Merged { .. }),
        "the update gave {outcome:?}"
    );
    ensure!(!head.status().await?.dirty, "an update left the head dirty");
    holds(&head, "theirs", Some("1")).await?;
    merge(&head, &branch).await?;
    let workspace = subject.workspace().await?;
    let next = workspace
        .head("next")
        .from_revision(branch)
        .create()
        .await?;
    holds(&next, "mine", Some("1")).await?;
    holds(&next, "theirs", Some("1")).await
}

pub(super) async fn local_changes_are_named_and_stay(subject: Subject) -> CheckResult {
    let Some((branch, other)) = another(&subject).await? else {
        return Ok(());
    };
    let head = subject.head("mine").await?;
    put(&other, "file", "theirs").await?;
    put(&other, "more", "theirs").await?;
    merge(&other, &branch).await?;
    put(&head, "file", "mine").await?;
    refused!(
        head.update_from(&branch).await,
        WorkspaceError::LocalChanges { files, .. } if files == ["file"],
        "an update over a local change"
    );
    holds(&head, "file", Some("mine")).await?;
    holds(&head, "more", None).await
}

/// A head with an update that left a conflict in `file`.
async fn in_conflict(
    subject: &Subject,
    branch: &str,
    other: &WorkspaceHead,
) -> Result<WorkspaceHead, Failure> {
    put(other, "file", "1\n2\n3\n").await?;
    merge(other, branch).await?;
    let workspace = subject.workspace().await?;
    let head = workspace.head("mine").from_revision(branch);
    let head = head.create().await?;
    let theirs = workspace.head("theirs").from_revision(branch);
    let theirs = theirs.create().await?;
    put(&head, "file", "1\nmine\n3\n").await?;
    commit(&head).await?;
    put(&theirs, "file", "1\ntheirs\n3\n").await?;
    put(&theirs, "new", "theirs").await?;
    merge(&theirs, branch).await?;
    Ok(head)
}

pub(super) async fn conflicts_wait_for_a_commit(subject: Subject) -> CheckResult {
    let Some((branch, other)) = another(&subject).await? else {
        return Ok(());
    };
    let head = in_conflict(&subject, &branch, &other).await?;
    let outcome = update(&head, &branch).await?;
    let UpdateOutcome::Conflicts(conflicts) = outcome else {
        return Err(Failure::new(format!("the update gave {outcome:?}")));
    };
    ensure!(
        conflicts.len() == 1 && conflicts[0].path == "file",
        "the conflicts: {conflicts:?}"
    );
    ensure!(
        conflicts[0].base.is_some() && conflicts[0].ours != conflicts[0].theirs,
        "what the sides have: {conflicts:?}"
    );
    let text = get(&head, "file").await?.unwrap_or_default();
    for part in ["1\n<<<<<<<", "\nmine\n=======\ntheirs\n>>>>>>>", "3\n"] {
        ensure!(text.contains(part), "{part:?} is not in {text:?}");
    }
    holds(&head, "new", Some("theirs")).await?;
    ensure!(
        head.status().await?.conflicted,
        "the conflict is not in the status"
    );
    for refused in [
        head.commit(request("too early")).await.map(drop),
        head.update_from(&branch).await.map(drop),
    ] {
        refused!(
            refused,
            WorkspaceError::Conflicted { files, .. } if files == ["file"],
            "an operation on a head in conflict"
        );
    }
    let merged = head.merge_into(&branch).await?;
    ensure!(
        matches!(merged, MergeOutcome::Conflicts(_)),
        "a merge of a head in conflict gave {merged:?}"
    );
    put(&head, "file", "1\nboth\n3\n").await?;
    let concluded = CommitRequest {
        resolve_conflicts: true,
        ..request("")
    };
    head.commit(concluded).await?;
    let status = head.status().await?;
    ensure!(
        !status.dirty && !status.conflicted,
        "the conflict is still there: {status:?}"
    );
    merge(&head, &branch).await?;
    let workspace = subject.workspace().await?;
    let next = workspace
        .head("next")
        .from_revision(branch)
        .create()
        .await?;
    holds(&next, "file", Some("1\nboth\n3\n")).await
}

pub(super) async fn a_restore_ends_a_merge(subject: Subject) -> CheckResult {
    let Some((branch, other)) = another(&subject).await? else {
        return Ok(());
    };
    if !subject.can.checkpoints {
        return Ok(());
    }
    let head = in_conflict(&subject, &branch, &other).await?;
    let before = head.checkpoint().await?;
    let outcome = update(&head, &branch).await?;
    ensure!(
        matches!(outcome, UpdateOutcome::Conflicts(_)),
        "the update gave {outcome:?}"
    );
    let during = head.restore(&before).await?.before;
    let status = head.status().await?;
    ensure!(
        !status.dirty && !status.conflicted,
        "the merge goes on: {status:?}"
    );
    holds(&head, "file", Some("1\nmine\n3\n")).await?;
    holds(&head, "new", None).await?;
    head.restore(&during).await?;
    ensure!(
        head.status().await?.conflicted,
        "a checkpoint of a merge does not hold it"
    );
    Ok(())
}

pub(super) async fn unknown_branches_are_refused(subject: Subject) -> CheckResult {
    if !subject.can.commits {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    for branch in ["no-such-branch", "", "--force", "a..b"] {
        refused!(
            head.update_from(branch).await,
            WorkspaceError::UnknownRevision { .. },
            "updating from {branch:?}"
        );
    }
    Ok(())
}
