use everruns_core::workspace::{
    CommitIdentity, CommitReceipt, CommitRequest, WorkspaceError, WorkspaceHead,
};

use super::Subject;
use super::subject::{holds, put, remove};
use crate::check::{CheckResult, Failure};

pub(super) fn request(message: &str) -> CommitRequest {
    CommitRequest {
        author: Some(CommitIdentity::new("A Test", "test@example.org")),
        ..CommitRequest::new(message)
    }
}

pub(super) async fn commit(head: &WorkspaceHead) -> Result<CommitReceipt, Failure> {
    Ok(head.commit(request("Some work")).await?)
}

async fn dirty_paths(head: &WorkspaceHead) -> Result<Vec<String>, Failure> {
    let entries = head.status().await?.entries.into_iter();
    Ok(entries.map(|entry| entry.path).collect())
}

pub(super) async fn leaves_the_head_clean(subject: Subject) -> CheckResult {
    if !subject.can.commits {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.commit(request("nothing")).await,
        WorkspaceError::NothingToCommit { .. },
        "a commit of nothing"
    );
    put(&head, "b", "1").await?;
    put(&head, "a/c", "1").await?;
    let receipt = commit(&head).await?;
    ensure_eq!(receipt.changed, ["a/c", "b"], "what the commit changed");
    ensure!(!receipt.revision.is_empty(), "the commit has no revision");
    ensure_eq!(
        Some(&receipt.branch),
        head.descriptor().branch.as_ref(),
        "the commit's branch"
    );
    ensure!(
        !head.status().await?.dirty,
        "a head is dirty after a commit"
    );
    ensure!(
        !head.checkpoint().await?.uncommitted,
        "what is committed counts as uncommitted"
    );
    ensure_eq!(
        head.diff().await?.files.len(),
        2,
        "the files that differ from what the head was made from"
    );
    refused!(
        head.commit(request("again")).await,
        WorkspaceError::NothingToCommit { .. },
        "committing again"
    );
    remove(&head, "b").await?;
    ensure_eq!(dirty_paths(&head).await?, ["b"], "what is uncommitted");
    ensure_eq!(commit(&head).await?.changed, ["b"], "what is committed");
    holds(&head, "a/c", Some("1")).await
}

pub(super) async fn of_paths_leaves_the_rest(subject: Subject) -> CheckResult {
    if !subject.can.commits {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "in/a", "1").await?;
    put(&head, "in/b", "1").await?;
    put(&head, "out", "1").await?;
    let of = |paths: &[&str]| CommitRequest {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..request("Some of it")
    };
    refused!(
        head.commit(of(&["in", "missing"])).await,
        WorkspaceError::UnknownPaths { paths, .. } if paths == ["missing"],
        "a commit of what isn't there"
    );
    let receipt = head.commit(of(&["in"])).await?;
    ensure_eq!(receipt.changed, ["in/a", "in/b"], "what the commit changed");
    ensure_eq!(dirty_paths(&head).await?, ["out"], "what is left");
    remove(&head, "in/a").await?;
    put(&head, "in/b", "2").await?;
    let receipt = head.commit(of(&["/workspace/in/a"])).await?;
    ensure_eq!(receipt.changed, ["in/a"], "the removal");
    ensure_eq!(dirty_paths(&head).await?, ["in/b", "out"], "what is left");
    refused!(
        head.commit(of(&["in/a"])).await,
        WorkspaceError::UnknownPaths { .. },
        "a commit of what is gone"
    );
    holds(&head, "in/b", Some("2")).await
}

pub(super) async fn bad_messages_change_nothing(subject: Subject) -> CheckResult {
    if !subject.can.commits {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "text").await?;
    for message in ["", " \n\t\n", "a\0b"] {
        refused!(
            head.commit(request(message)).await,
            WorkspaceError::InvalidMessage { .. },
            "the message {message:?}"
        );
    }
    let nobody = CommitRequest {
        author: Some(CommitIdentity::new("A Test", " ")),
        ..request("by nobody")
    };
    refused!(
        head.commit(nobody).await,
        WorkspaceError::IdentityMissing { .. },
        "an author without an address"
    );
    ensure_eq!(dirty_paths(&head).await?, ["file"], "what is uncommitted");
    Ok(())
}

pub(super) async fn outlives_the_head(subject: Subject) -> CheckResult {
    if !subject.can.commits || !subject.can.destroys {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "text").await?;
    let committed = commit(&head).await?;
    let receipt = head.destroy().await?;
    ensure_eq!(
        receipt.kept_branch,
        Some(committed.branch.clone()),
        "the branch that is kept"
    );
    ensure_eq!(receipt.kept_ref, None, "what is kept beside it");
    if subject.can.revisions && subject.can.many_heads {
        let workspace = subject.workspace().await?;
        for revision in [committed.revision, committed.branch] {
            let name = format!("from {}", revision.len());
            let again = workspace.head(name).from_revision(revision);
            holds(&again.create().await?, "file", Some("text")).await?;
        }
    }
    Ok(())
}

pub(super) async fn is_taken_back_by_a_restore(subject: Subject) -> CheckResult {
    if !subject.can.commits || !subject.can.checkpoints {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "before").await?;
    let before = head.checkpoint().await?;
    put(&head, "file", "after").await?;
    commit(&head).await?;
    let receipt = head.restore(&before).await?;
    holds(&head, "file", Some("before")).await?;
    ensure_eq!(
        dirty_paths(&head).await?,
        ["file"],
        "what is uncommitted as it was then"
    );
    head.restore(&receipt.before).await?;
    holds(&head, "file", Some("after")).await?;
    ensure!(
        !head.status().await?.dirty,
        "the commit is not there again: {:?}",
        head.status().await?
    );
    Ok(())
}

pub(super) async fn is_in_forks(subject: Subject) -> CheckResult {
    if !subject.can.commits || !subject.can.forks {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "committed", "1").await?;
    commit(&head).await?;
    put(&head, "loose", "1").await?;
    let fork = head.fork("fork").await?;
    ensure_eq!(dirty_paths(&fork).await?, ["loose"], "what is uncommitted");
    holds(&fork, "committed", Some("1")).await?;
    ensure_eq!(commit(&fork).await?.changed, ["loose"], "the fork's commit");
    ensure_eq!(dirty_paths(&head).await?, ["loose"], "the origin's");
    Ok(())
}

pub(super) async fn unsupported_is_told(subject: Subject) -> CheckResult {
    if subject.can.commits {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.commit(request("a")).await,
        WorkspaceError::Unsupported { .. },
        "a commit"
    );
    refused!(
        head.update_from("main").await,
        WorkspaceError::Unsupported { .. },
        "an update"
    );
    Ok(())
}
