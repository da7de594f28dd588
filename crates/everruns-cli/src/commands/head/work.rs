//! Bringing work together: committing, merging a head into a branch, and a branch into a head.

use std::fmt::Write as _;

use everruns::{
    CommitIdentity, CommitRequest, MergeConflict, MergeOutcome, MergeRequest, MergeStrategy,
    UpdateOutcome, UpdateRequest,
};

use super::text::short;
use crate::args::{CommitArgs, MergeArgs, UpdateArgs};
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository::open_head;
use crate::state::StateFolder;

pub(super) async fn commit(
    state: &StateFolder,
    output: Output,
    args: CommitArgs,
) -> Result<(), Failure> {
    let author = args.author.as_deref().map(identity).transpose()?;
    let (_, head) = open_head(state, &args.head).await?;
    let mut request = CommitRequest::new(args.message);
    request.author = author;
    request.paths = args.paths;
    let receipt = head.commit(request).await?;
    output.show(&receipt, || {
        let count = receipt.changed.len();
        let files = if count == 1 { "file" } else { "files" };
        let mut text = format!("committed {count} {files} of {}\n", shown(head.name()));
        let _ = writeln!(text, "  commit    {}", short(&receipt.revision));
        let _ = writeln!(text, "  branch    {}", shown(&receipt.branch));
        for entry in &receipt.uncaptured {
            let _ = writeln!(
                text,
                "left out: {} ({})",
                shown(&entry.path),
                shown(&entry.reason)
            );
        }
        text
    })
}

pub(super) async fn merge(
    state: &StateFolder,
    output: Output,
    args: MergeArgs,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, &args.head).await?;
    let strategy = match (args.squash, args.ff_only) {
        (true, _) => MergeStrategy::Squash,
        (_, true) => MergeStrategy::FastForward,
        _ => MergeStrategy::MergeCommit,
    };
    let branch = args.branch.clone();
    let request = MergeRequest {
        branch: args.branch,
        strategy,
        message: args.message,
        author: None,
    };
    let outcome = head.merge(request).await?;
    output.show(&outcome, || match &outcome {
        MergeOutcome::UpToDate => format!("{} has everything already", shown(&branch)),
        MergeOutcome::Merged { revision } => {
            format!(
                "merged {} into {}, now at {}",
                shown(head.name()),
                shown(&branch),
                short(revision)
            )
        }
        MergeOutcome::Conflicts(conflicts) => {
            format!(
                "{} and {} changed the same places:\n{}",
                shown(head.name()),
                shown(&branch),
                listed(conflicts)
            )
        }
        _ => "merged".to_owned(),
    })?;
    if matches!(outcome, MergeOutcome::Conflicts(_)) {
        return Err(
            Failure::new("the merge has conflicts, so nothing was changed").hint(format!(
                "`everruns head update` brings {} into the head, where they can be resolved",
                shown(&branch)
            )),
        );
    }
    Ok(())
}

pub(super) async fn update(
    state: &StateFolder,
    output: Output,
    args: UpdateArgs,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, &args.head).await?;
    let branch = args.branch.clone();
    let request = UpdateRequest {
        branch: args.branch,
        ..UpdateRequest::default()
    };
    let outcome = head.update(request).await?;
    output.show(&outcome, || match &outcome {
        UpdateOutcome::UpToDate => format!(
            "{} has everything of {}",
            shown(head.name()),
            shown(&branch)
        ),
        UpdateOutcome::FastForwarded { revision } => {
            format!(
                "{} is at {} of {} now",
                shown(head.name()),
                short(revision),
                shown(&branch)
            )
        }
        UpdateOutcome::Merged { revision } => {
            format!(
                "merged {} into {}, now at {}",
                shown(&branch),
                shown(head.name()),
                short(revision)
            )
        }
        UpdateOutcome::Conflicts(conflicts) => {
            format!(
                "{} and {} changed the same places:\n{}",
                shown(head.name()),
                shown(&branch),
                listed(conflicts)
            )
        }
        _ => "updated".to_owned(),
    })?;
    if matches!(outcome, UpdateOutcome::Conflicts(_)) {
        return Err(Failure::new(
            "the update has conflicts, which are in the head's files between markers",
        )
        .hint("resolve them there, and conclude with `git commit` in the head's folder"));
    }
    Ok(())
}

/// An author as Git writes one: `Name <address>`.
fn identity(text: &str) -> Result<CommitIdentity, Failure> {
    let parts = text.strip_suffix('>').and_then(|text| text.split_once('<'));
    match parts {
        Some((name, email)) if !name.trim().is_empty() && !email.is_empty() => {
            Ok(CommitIdentity::new(name.trim(), email))
        }
        _ => Err(Failure::new(format!("`{}` is no author", shown(text)))
            .hint("write it as `Name <address>`")),
    }
}

fn listed(conflicts: &[MergeConflict]) -> String {
    let mut text = String::new();
    for conflict in conflicts {
        let _ = writeln!(
            text,
            "  {} ({})",
            shown(&conflict.path),
            shown(&conflict.detail)
        );
    }
    text
}
