use everruns_core::workspace::{MergeOutcome, WorkspaceError};

use super::Subject;
use super::subject::{holds, put};
use crate::check::{CheckResult, Failure};

pub(super) async fn moves_the_branch(subject: Subject) -> CheckResult {
    let Some(branch) = subject.can.merges_into.clone() else {
        return Ok(());
    };
    let head = subject.head("mine").await?;
    ensure_eq!(
        head.merge_into(&branch).await?,
        MergeOutcome::UpToDate,
        "merging nothing"
    );
    put(&head, "merged", "text").await?;
    let outcome = head.merge_into(&branch).await?;
    let MergeOutcome::Merged { revision } = outcome else {
        return Err(Failure::new(format!("the merge gave {outcome:?}")));
    };
    ensure!(!revision.is_empty(), "the merge names no revision");
    ensure_eq!(
        head.merge_into(&branch).await?,
        MergeOutcome::UpToDate,
        "merging again"
    );
    holds(&head, "merged", Some("text")).await?;
    if subject.can.many_heads {
        let builder = subject
            .workspace()
            .await?
            .head("next")
            .from_revision(branch);
        holds(&builder.create().await?, "merged", Some("text")).await?;
    }
    Ok(())
}

pub(super) async fn unknown_branches_are_refused(subject: Subject) -> CheckResult {
    if subject.can.merges_into.is_none() {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    put(&head, "file", "text").await?;
    for branch in ["no-such-branch", "", "--force", "a..b"] {
        let result = head.merge_into(branch).await;
        refused!(
            result,
            WorkspaceError::UnknownRevision { .. },
            "merging into {branch:?}"
        );
    }
    Ok(())
}

pub(super) async fn unsupported_is_told(subject: Subject) -> CheckResult {
    if subject.can.merges_into.is_some() {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    refused!(
        head.merge_into("main").await,
        WorkspaceError::Unsupported { .. },
        "a merge"
    );
    Ok(())
}
