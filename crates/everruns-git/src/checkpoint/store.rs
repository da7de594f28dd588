//! Taking a checkpoint: capture, commit, flush, reference.

use everruns_core::failpoint::hit;
use gix::odb::memory::Storage;

use super::reference::newest;
use super::{Capture, Checkpoint, capture_with_changes, commit};
use crate::context::Context;
use crate::error::Result;
use crate::flush::flush_reference;
use crate::objects::{Stored, forget, hold, settle};
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
    let taken = take_captured(context, &own, head, &capture, label, Stored::Unknown)?;
    Ok(taken.checkpoint)
}

/// A checkpoint that was taken.
pub(crate) struct Taken {
    pub(crate) checkpoint: Checkpoint,
    /// Trees and commits that were held back, if they are not too much.
    pub(crate) objects: Storage,
}

/// As [`take`], of a state that was just captured. What `worktree` holds back is stored, apart from what is `stored`.
pub(crate) fn take_captured(
    context: &Context,
    worktree: &gix::Repository,
    head: &str,
    capture: &Capture,
    label: Option<&str>,
    stored: Stored<'_>,
) -> Result<Taken> {
    let captured = &capture.state;
    hit("git.checkpoint.after-trees")?;
    let newest = newest(worktree, head)?;
    if let Some((number, id)) = newest {
        let latest = Checkpoint::read(worktree, head, number, id)?;
        if latest.state == *captured && (label.is_none() || latest.label.as_deref() == label) {
            // Whoever took it stored everything before the reference appeared, but may not have come to the end.
            let objects = forget(worktree);
            context.flushed.flush(worktree)?;
            flush_reference(worktree.common_dir(), &latest.reference())?;
            return Ok(Taken {
                checkpoint: latest,
                objects,
            });
        }
    }
    let now = context.now();
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
        commit::write(worktree, captured, &message, now)?
    };
    let number = newest.map_or(1, |(number, _)| number + 1);
    let mut checkpoint = Checkpoint::read(worktree, head, number, id)?;
    checkpoint.at = now.div_euclid(1000) * 1000;
    let objects = settle(worktree, stored)?;
    hit("git.checkpoint.after-commit")?;
    context.flushed.flush(worktree)?;
    hit("git.checkpoint.after-flush")?;
    let refs = Refs::new(worktree, now);
    let name = checkpoint.reference();
    if itself.is_some() {
        // The commit says when it was made, and only the log of the reference when it was kept.
        refs.create_logged(&name, id, "checkpoint")?;
    } else {
        refs.create(&name, id, "checkpoint")?;
    }
    flush_reference(worktree.common_dir(), &name)?;
    hit("git.checkpoint.after-reference")?;
    Ok(Taken {
        checkpoint,
        objects,
    })
}
