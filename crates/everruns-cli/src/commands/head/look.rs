//! Looking at heads; nothing changes.

use std::fmt::Write as _;
use std::path::Path;

use everruns::WorkspaceHeadState;
use serde_json::json;

use super::text::{diff_stat, diff_text, head_text, row, short, status_text};
use crate::args::HeadRef;
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository::{open, open_head};
use crate::state::StateFolder;
use crate::table::{WHOLE, table};
use crate::times;

pub(super) async fn list(
    state: &StateFolder,
    output: Output,
    repo: &Path,
    all: bool,
) -> Result<(), Failure> {
    let workspace = open(state, repo).await?;
    let mut heads = workspace.heads().await?;
    heads.retain(|head| all || head.state != WorkspaceHeadState::Destroyed);
    output.show(
        &json!({"workspace": workspace.descriptor(), "heads": heads}),
        || {
            if heads.is_empty() {
                return format!(
                    "{} has no heads; `everruns head create NAME` makes one",
                    shown(workspace.name())
                );
            }
            let rows: Vec<_> = heads.iter().map(row).collect();
            table([("NAME", 40), ("STATE", WHOLE), ("ID", WHOLE)], &rows)
        },
    )
}

pub(super) async fn status(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, which).await?;
    let status = head.status().await?;
    output.show(&status, || {
        format!("{}{}", head_text(&head), status_text(&status))
    })
}

pub(super) async fn diff(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
    stat: bool,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, which).await?;
    let diff = head.diff().await?;
    output.show(&diff, || {
        if stat {
            diff_stat(&diff)
        } else {
            diff_text(&diff)
        }
    })
}

pub(super) async fn checkpoints(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, which).await?;
    let kept = head.checkpoints().await?;
    output.show(&kept, || {
        if kept.is_empty() {
            return "no checkpoints are kept".to_owned();
        }
        let rows: Vec<_> = kept
            .iter()
            .map(|checkpoint| {
                [
                    checkpoint.number.to_string(),
                    short(&checkpoint.revision),
                    times::shown(checkpoint.created_at),
                    shown(checkpoint.label.as_deref().unwrap_or_default()),
                ]
            })
            .collect();
        let mut text = table(
            [
                ("NUMBER", WHOLE),
                ("REVISION", WHOLE),
                ("MADE", WHOLE),
                ("LABEL", WHOLE),
            ],
            &rows,
        );
        let first = kept.first().and_then(|first| first.location.as_deref());
        if let Some((refs, _)) = first.and_then(|first| first.rsplit_once('/')) {
            let _ = writeln!(text, "each is kept under {}/NUMBER", shown(refs));
        }
        text
    })
}
