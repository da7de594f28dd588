use everruns_core::workspace::{WorkspaceError, WorkspaceHeadAccess, WorkspaceHeadState};

use super::Subject;
use super::subject::{holds, put};
use crate::check::CheckResult;

/// Proves C06 for a backend
pub(super) async fn isolated_by_default(subject: Subject) -> CheckResult {
    if !subject.can.isolated {
        return Ok(());
    }
    let workspace = subject.workspace().await?;
    let head = workspace.head("mine").create().await?;
    ensure_eq!(head.access(), WorkspaceHeadAccess::Isolated, "the access");
    ensure_eq!(head.name(), "mine", "the name");
    ensure_eq!(head.workspace_id(), workspace.id(), "the workspace");
    ensure_eq!(
        head.descriptor().state,
        WorkspaceHeadState::Ready,
        "the state"
    );
    ensure_eq!(head.descriptor().forked_from, None, "the origin");
    put(&head, "folder/file", "text").await?;
    holds(&head, "folder/file", Some("text")).await
}

/// Proves C07 for a backend
pub(super) async fn shared_when_asked(subject: Subject) -> CheckResult {
    if !subject.can.shared {
        return Ok(());
    }
    let head = subject
        .workspace()
        .await?
        .head("ours")
        .shared()
        .create()
        .await?;
    ensure_eq!(head.access(), WorkspaceHeadAccess::Shared, "the access");
    ensure_eq!(
        head.binding().access,
        WorkspaceHeadAccess::Shared,
        "the binding's access"
    );
    Ok(())
}

pub(super) async fn unsupported_access_is_refused(subject: Subject) -> CheckResult {
    let workspace = subject.workspace().await?;
    if !subject.can.isolated {
        let result = workspace.head("mine").create().await;
        refused!(
            result,
            WorkspaceError::Unsupported { .. },
            "an isolated head"
        );
    }
    if !subject.can.shared {
        let result = workspace.head("ours").shared().create().await;
        refused!(result, WorkspaceError::Unsupported { .. }, "a shared head");
    }
    Ok(())
}

pub(super) async fn names_are_unique(subject: Subject) -> CheckResult {
    if !subject.can.many_heads {
        return Ok(());
    }
    let head = subject.head("taken").await?;
    let builder = subject.workspace().await?.head("taken");
    let builder = if subject.can.isolated {
        builder
    } else {
        builder.shared()
    };
    refused!(
        builder.create().await,
        WorkspaceError::NameTaken { name, head: other } if name == "taken" && other == *head.id(),
        "a name that is taken"
    );
    let close = subject.head("Taken").await?;
    ensure!(close.id() != head.id(), "two names gave one head");
    Ok(())
}

pub(super) async fn names_are_checked(subject: Subject) -> CheckResult {
    let workspace = subject.workspace().await?;
    for name in ["", " ", "a\nb", "a\0b", &"x".repeat(129)] {
        let result = workspace.head(name).create().await;
        refused!(
            result,
            WorkspaceError::InvalidName { .. },
            "the name {name:?}"
        );
    }
    if subject.can.many_heads {
        for name in [
            "../x",
            "-rf",
            "a/b",
            ".git",
            "日本",
            "..",
            "a.lock",
            "\u{202e}",
            &"é".repeat(128),
        ] {
            let head = subject.head(name).await?;
            ensure_eq!(head.name(), name, "the name as given");
            put(&head, "file", name).await?;
            holds(&head, "file", Some(name)).await?;
        }
    }
    Ok(())
}

pub(super) async fn unknown_revisions_are_refused(subject: Subject) -> CheckResult {
    if !subject.can.revisions {
        return Ok(());
    }
    let workspace = subject.workspace().await?;
    let huge = "x".repeat(1 << 20);
    for revision in [
        "no-such-branch",
        "",
        "--output=f",
        "-x",
        "main..other",
        "\0",
        huge.as_str(),
    ] {
        let result = workspace
            .head("head")
            .from_revision(revision)
            .create()
            .await;
        let shown: String = revision.chars().take(20).collect();
        refused!(
            result,
            WorkspaceError::UnknownRevision { .. },
            "the revision {shown:?}"
        );
    }
    ensure!(
        workspace.heads().await?.is_empty(),
        "a refused head is listed"
    );
    Ok(())
}

pub(super) async fn heads_are_listed_oldest_first(subject: Subject) -> CheckResult {
    let workspace = subject.workspace().await?;
    ensure!(
        workspace.heads().await?.is_empty(),
        "a fresh workspace has heads"
    );
    let names: &[&str] = if subject.can.many_heads {
        &["z", "a", "m"]
    } else {
        &["z"]
    };
    let mut made = Vec::new();
    for name in names {
        made.push(subject.head(name).await?.descriptor().clone());
    }
    ensure_eq!(workspace.heads().await?, made, "the heads");
    Ok(())
}

pub(super) async fn heads_do_not_share_files(subject: Subject) -> CheckResult {
    if !subject.can.many_heads {
        return Ok(());
    }
    let (one, two) = (subject.head("one").await?, subject.head("two").await?);
    put(&one, "file", "one").await?;
    holds(&two, "file", None).await?;
    put(&two, "file", "two").await?;
    holds(&one, "file", Some("one")).await
}
