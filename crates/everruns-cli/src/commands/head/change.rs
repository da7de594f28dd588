//! Keeping, archiving, destroying and reopening heads. Each says what is kept, and where.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use everruns::{DestroyReceipt, LocalGitWorkspace};

use super::text::{head_text, short};
use crate::args::HeadRef;
use crate::failure::Failure;
use crate::hints::{self, quoted};
use crate::output::{Output, shown};
use crate::repository::{self, find, open, open_head, open_head_on};
use crate::state::StateFolder;

/// How long the program stays to delete the files of a destroyed head.
const DELETING: Duration = Duration::from_secs(30);

pub(super) async fn checkpoint(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
    label: Option<&str>,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, which).await?;
    let checkpoint = match label {
        Some(label) => head.checkpoint_labelled(label).await?,
        None => head.checkpoint().await?,
    };
    output.show(&checkpoint, || {
        let revision = short(&checkpoint.revision);
        let mut text = if checkpoint.uncommitted {
            format!("kept the present state of {}\n", shown(head.name()))
        } else {
            format!(
                "nothing is uncommitted in {}: its state is a commit\n",
                shown(head.name())
            )
        };
        let _ = writeln!(text, "  revision  {revision}");
        if let Some(kept) = &checkpoint.location {
            let _ = writeln!(text, "  kept in   {}", shown(kept));
            if checkpoint.uncommitted {
                text.push_str(&taking_up(kept));
            }
        }
        for entry in &checkpoint.uncaptured {
            let _ = writeln!(
                text,
                "not kept: {} ({})",
                shown(&entry.path),
                shown(&entry.reason)
            );
        }
        text
    })
}

pub(super) async fn archive(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
) -> Result<(), Failure> {
    let (workspace, head) = open_head(state, which).await?;
    let receipt = head.archive().await?;
    output.show(&receipt, || {
        let mut text = format!(
            "archived {} ({}); everything is kept\n",
            shown(head.name()),
            head.id()
        );
        if let Some(branch) = &receipt.branch {
            let _ = writeln!(text, "  branch    {}", shown(branch));
        }
        if let Some(location) = &receipt.location {
            let _ = writeln!(
                text,
                "  files in  {}",
                shown(location.trim_end_matches('/'))
            );
        }
        let locator = workspace.descriptor().locator.as_str();
        let reopen = state.command(&["head", "reopen", head.name()], Some(locator));
        let _ = writeln!(text, "  reopen    {}", shown(&reopen));
        text
    })
}

pub(super) async fn destroy(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
) -> Result<(), Failure> {
    let git = repository::git(state).await?;
    let (_, head) = open_head_on(Arc::<LocalGitWorkspace>::clone(&git), state, which).await?;
    let receipt = head.destroy().await?;
    let shown = output.show(&receipt, || {
        format!(
            "destroyed {}\n{}",
            shown(head.name()),
            receipt_text(&receipt)
        )
    });
    // Its files are deleted by a thread of this process, which is about to end.
    match tokio::time::timeout(DELETING, git.empty_trash()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "its files are left to the next command"),
        Err(_) => tracing::warn!("its files are many: the next command goes on deleting them"),
    }
    shown
}

/// What a destroyed head left, and how to get at it with plain Git.
fn receipt_text(receipt: &DestroyReceipt) -> String {
    let mut text = String::new();
    if let Some(removed) = &receipt.removed {
        let _ = writeln!(text, "  removed   {}", shown(removed));
    }
    if let Some(branch) = &receipt.kept_branch {
        let _ = writeln!(text, "  kept      branch {}", shown(branch));
    }
    match &receipt.kept_ref {
        Some(kept) => {
            let _ = writeln!(text, "  kept      uncommitted work in {}", shown(kept));
            text.push_str(&taking_up(kept));
        }
        None => text.push_str("  nothing was uncommitted\n"),
    }
    for kept in &receipt.also_kept {
        let _ = writeln!(
            text,
            "  kept      what only its worktree led to in {}",
            shown(kept)
        );
    }
    text
}

/// How to get at uncommitted work with plain Git.
fn taking_up(kept: &str) -> String {
    format!(
        "  see it    git diff {0}^ {0}\n  take it   {1}\n",
        quoted(kept),
        hints::taking_up("NAME", kept)
    )
}

pub(super) async fn reopen(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
) -> Result<(), Failure> {
    let workspace = open(state, &which.repo).await?;
    let found = find(&workspace, &which.head).await?;
    workspace
        .backend()
        .unarchive_head(workspace.id(), &found.id)
        .await?;
    let head = workspace.open_head(&found.id).await?;
    output.show(head.descriptor(), || {
        format!("reopened {}", head_text(&head))
    })
}
