//! Taking a checkpoint: capture, commit, flush, reference.

use everruns_core::failpoint::hit;
use gix::ObjectId;

use super::reference::newest;
use super::{Capture, Checkpoint, capture_with_changes, commit};
use crate::context::Context;
use crate::error::Result;
use crate::flush::flush_reference;
use crate::objects::{hold, settle};
use crate::repository::Refs;

/// Keeps the present state of `worktree`, which belongs to `head`. The caller holds the head's lock.
///
/// A state that the latest checkpoint holds already is not kept again. The reference appears only after everything
/// that it leads to is on the disk.
pub(crate) fn take(
    context: &Context,
    worktree: &gix::Repository,
    head: &str,
    label: Option<&str>,
) -> Result<Checkpoint> {
    let mut own = worktree.clone();
    hold(&mut own);
    let capture = capture_with_changes(&own)?;
    take_captured(context, &own, head, &capture, label)
}

/// As [`take`], of a state that was just captured. What `worktree` holds back is stored.
pub(crate) fn take_captured(
    context: &Context,
    worktree: &gix::Repository,
    head: &str,
    capture: &Capture,
    label: Option<&str>,
) -> Result<Checkpoint> {
    let captured = &capture.state;
    hit("git.checkpoint.after-trees")?;
    let newest = newest(worktree, head)?;
    if let Some((number, id)) = newest {
        let latest = Checkpoint::read(worktree, head, number, id)?;
        if latest.state == *captured && (label.is_none() || latest.label.as_deref() == label) {
            // Whoever took it may not have come to the end.
            settle(worktree)?;
            context.flushed.flush(worktree)?;
            flush_reference(worktree.common_dir(), &latest.reference())?;
            return Ok(latest);
        }
    }
    let itself = captured
        .commit()
        .filter(|_| captured.is_clean() && label.is_none());
    let id = if let Some(commit) = itself {
        commit
    } else {
        let message = commit::Message {
            head: head.to_owned(),
            label: label.map(str::to_owned),
            changed: Some(capture.changed.len() as u64),
            unborn: captured.commit().is_none(),
        };
        commit::write(worktree, captured, &message, context.now())?
    };
    let number = newest.map_or(1, |(number, _)| number + 1);
    let checkpoint = Checkpoint::read(worktree, head, number, id)?;
    settle(worktree)?;
    hit("git.checkpoint.after-commit")?;
    context.flushed.flush(worktree)?;
    hit("git.checkpoint.after-flush")?;
    keep(worktree, &checkpoint.reference(), id, context.now())?;
    hit("git.checkpoint.after-reference")?;
    Ok(checkpoint)
}

/// Creates the reference `name` at `id`, durable once this returned.
fn keep(repository: &gix::Repository, name: &str, id: ObjectId, at: i64) -> Result<()> {
    Refs::new(repository, at).create(name, id, "checkpoint")?;
    flush_reference(repository.common_dir(), name)
}
