//! Taking a checkpoint: capture, commit, flush, reference.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use everruns_core::failpoint::hit;
use gix::ObjectId;

use super::reference::numbers;
use super::{Captured, Checkpoint, capture, commit};
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::repository::Refs;

/// Keeps the present state of `worktree`, which belongs to `head`. The caller holds the head's lock.
///
/// A state that the latest checkpoint holds already is not kept again. The reference appears only after everything
/// that it leads to is on the disk.
pub(crate) fn take(
    worktree: &gix::Repository,
    head: &str,
    label: Option<&str>,
    at: i64,
) -> Result<Checkpoint> {
    take_captured(worktree, head, &capture(worktree)?, label, at)
}

/// As [`take`], of a state that was just captured.
pub(crate) fn take_captured(
    worktree: &gix::Repository,
    head: &str,
    captured: &Captured,
    label: Option<&str>,
    at: i64,
) -> Result<Checkpoint> {
    hit("git.checkpoint.after-trees")?;
    let kept = numbers(worktree, head)?;
    if let Some(&(number, id)) = kept.last() {
        let latest = Checkpoint::read(worktree, head, number, id)?;
        if latest.state == *captured && (label.is_none() || latest.label.as_deref() == label) {
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
            changed: Some(count_changed(worktree, captured)?),
            unborn: captured.commit().is_none(),
        };
        commit::write(worktree, captured, &message, at)?
    };
    hit("git.checkpoint.after-commit")?;
    flush_objects(worktree)?;
    hit("git.checkpoint.after-flush")?;
    let number = kept.last().map_or(1, |(number, _)| number + 1);
    let checkpoint = Checkpoint::read(worktree, head, number, id)?;
    keep(worktree, &checkpoint.reference(), id, at)?;
    hit("git.checkpoint.after-reference")?;
    Ok(checkpoint)
}

/// How many paths of the index or the files differ from the commit.
fn count_changed(repository: &gix::Repository, captured: &Captured) -> Result<u64> {
    let step = "compare the state with its commit";
    let head = repository.find_tree(captured.head_tree).git(step)?;
    let mut paths = BTreeSet::new();
    for tree in BTreeSet::from([captured.index, captured.files]) {
        let tree = repository.find_tree(tree).git(step)?;
        let changes = repository
            .diff_tree_to_tree(&head, &tree, gix::diff::Options::default())
            .git(step)?;
        let files = changes
            .into_iter()
            .filter(|change| !change.entry_mode().is_tree());
        paths.extend(files.map(|change| change.location().to_owned()));
    }
    Ok(paths.len() as u64)
}

/// Makes everything written to the object database durable.
pub(crate) fn flush_objects(repository: &gix::Repository) -> Result<()> {
    let objects = repository.common_dir().join("objects");
    let handle = fs::OpenOptions::new()
        .read(true)
        .open(&objects)
        .step("open", &objects)?;
    rustix::fs::syncfs(&handle).step("flush", &objects)
}

/// Creates the reference `name` at `id`, durable once this returned.
fn keep(repository: &gix::Repository, name: &str, id: ObjectId, at: i64) -> Result<()> {
    Refs::new(repository, at).create(name, id, "checkpoint")?;
    flush_reference(repository.common_dir(), name)
}

/// Makes the reference `name` durable.
pub(crate) fn flush_reference(common_dir: &Path, name: &str) -> Result<()> {
    let path = common_dir.join(name);
    // A reference that was packed in the meantime has been written by someone who saw to that.
    if let Ok(file) = fs::OpenOptions::new().read(true).open(&path) {
        file.sync_all().step("flush", &path)?;
        if let Some(folder) = path.parent() {
            crate::state::durable::sync_folder(folder)?;
        }
    }
    Ok(())
}
