//! Going back to checkpoints, and forgetting those that are not needed.

use std::fmt::Write as _;

use everruns::{RestorePlan, WorkspaceCheckpoint, WorkspaceHead};

use super::text::short;
use crate::args::{HeadRef, RestoreArgs};
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository::open_head;
use crate::state::StateFolder;

pub(super) async fn restore(
    state: &StateFolder,
    output: Output,
    args: RestoreArgs,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, &args.head).await?;
    let checkpoint = numbered(&head, args.checkpoint).await?;
    if args.dry_run {
        let plan = head.plan_restore(&checkpoint).await?;
        return output.show(&plan, || plan_text(&plan));
    }
    let receipt = head.restore(&checkpoint).await?;
    output.show(&receipt, || {
        let mut text = format!(
            "{} is as it was at checkpoint {}; {} paths were written or removed\n",
            shown(head.name()),
            checkpoint.number,
            receipt.changed.len()
        );
        let _ = match &receipt.before.location {
            Some(kept) => writeln!(text, "  the state before is kept in {}", shown(kept)),
            None => writeln!(
                text,
                "  the state before was commit {}",
                short(&receipt.before.revision)
            ),
        };
        text
    })
}

/// The checkpoint of the head that has this number.
pub(super) async fn numbered(
    head: &WorkspaceHead,
    number: u64,
) -> Result<WorkspaceCheckpoint, Failure> {
    let kept = head.checkpoints().await?;
    kept.into_iter()
        .find(|checkpoint| checkpoint.number == number)
        .ok_or_else(|| {
            Failure::new(format!("{} has no checkpoint {number}", shown(head.name())))
                .hint("`everruns head checkpoint HEAD --list` shows what is kept")
        })
}

/// What bringing files back would do.
pub(crate) fn plan_text(plan: &RestorePlan) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        let does = if step.removes { "remove" } else { "write " };
        let _ = writeln!(text, "would {does} {}", shown(&step.path));
    }
    if let Some(revision) = &plan.branch_to {
        let _ = writeln!(text, "would move the head's branch to {}", short(revision));
    }
    for path in &plan.blocked {
        let _ = writeln!(
            text,
            "in the way: {}, which no checkpoint holds; move it first",
            shown(path)
        );
    }
    if text.is_empty() {
        text.push_str("nothing would change\n");
    }
    text
}

pub(super) async fn prune(
    state: &StateFolder,
    output: Output,
    which: &HeadRef,
    keep: usize,
) -> Result<(), Failure> {
    let (_, head) = open_head(state, which).await?;
    let receipt = head.prune_checkpoints(keep).await?;
    output.show(&receipt, || {
        let removed = match receipt.removed.len() {
            1 => "1 checkpoint".to_owned(),
            more => format!("{more} checkpoints"),
        };
        let kept = match receipt.kept {
            1 => "1 is kept".to_owned(),
            more => format!("{more} are kept"),
        };
        format!("forgot {removed} of {}; {kept}", shown(head.name()))
    })
}
