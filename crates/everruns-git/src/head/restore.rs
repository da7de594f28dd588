//! Bringing a head back to a checkpoint.

use std::collections::BTreeSet;

use everruns_core::failpoint::hit;
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use rustix::fs::FileType;

use super::apply::Change;
use super::busy::InUse;
use super::handle::{Handle, destroyed};
use super::plan::{Step, check_way, plan};
use crate::checkpoint::{self, Captured, Checkpoint};
use crate::error::{GitError, Result};
use crate::files::Files;
use crate::index::IndexLock;
use crate::names::path_text;
use crate::state::{HeadState, Intent, Operation};

/// What a restore did.
#[derive(Debug, Clone)]
pub(crate) struct Restored {
    /// The state before.
    pub(crate) before: Checkpoint,
    /// The paths that were written or removed.
    pub(crate) changed: Vec<BString>,
}

/// Brings the head to the state of `target`, after keeping the present one.
///
/// No turn may run on the head, in this process or another, and none begins until the end.
///
/// Everything that could stand in the way is looked for first, the lock of the index included. When a step fails, what
/// was done is undone; `NotUndone` if that fails, too, and then nobody goes on with the head until it is made up for.
/// Once the intent is recorded, a crash is made up for by the next who opens the state or goes on with the head.
pub(crate) fn restore(handle: &Handle, target: &Checkpoint) -> Result<Restored> {
    let _lock = handle.lock_to_replace()?;
    let record = handle.reload()?;
    if record.state == HeadState::Destroyed {
        return Err(destroyed(&record));
    }
    let _alone = InUse::alone(handle.layout(), &record.id)?;
    let worktree = handle.open()?;
    let lock = IndexLock::take(&worktree.index_path())?;
    let before = keep(handle, &worktree)?;
    let steps = prepare(handle, &worktree, &before.state, &target.state)?;
    let mut change = Change::new(handle, &worktree, &lock, &before.state, &target.state)?;
    hit("git.restore.after-checkpoint")?;
    Intent {
        head: record.clone(),
        operation: Operation::Restore {
            checkpoint: target.id.to_string(),
            before: Some(before.id.to_string()),
        },
    }
    .begin(handle.layout())?;
    let clear = || Intent::clear(handle.layout(), &handle.record.id);
    if let Err(failure) = change.apply(&steps).and_then(|()| clear()) {
        if let Err(second) = change.undo().and_then(|()| clear()) {
            leave(handle, &second);
            return Err(failure.not_undone(&record.id, second));
        }
        return Err(failure);
    }
    Ok(Restored {
        before,
        changed: steps.into_iter().map(|step| step.path).collect(),
    })
}

/// Leaves a failed restore that can't be undone for the next who goes on with the head, and so goes back: the caller is
/// told that the restore failed, so it must not happen later after all.
fn leave(handle: &Handle, failure: &GitError) {
    let id = &handle.record.id;
    let turned = Intent::turn_back(handle.layout(), id);
    tracing::warn!(
        head = id,
        error = %failure,
        turned = turned.is_ok(),
        "a failed restore is left half done"
    );
}

/// What a restore would do.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The paths that would change.
    pub(crate) steps: Vec<Step>,
    /// The paths that are in the way.
    pub(crate) blocked: Vec<String>,
    /// Where the branch would move to, if it would; the null id if it would have no commits any more.
    pub(crate) branch_to: Option<ObjectId>,
}

/// Finds out what a restore to the state of `target` would do, and stores nothing.
pub(crate) fn plan_restore(handle: &Handle, target: &Checkpoint) -> Result<Planned> {
    let worktree = handle.open()?.with_object_memory();
    let before = checkpoint::capture_in_memory(&worktree)?;
    let moves = before.head != target.state.head;
    if moves {
        handle.expect_own_branch(&worktree)?;
    }
    let steps = plan(&worktree, before.files, target.state.files)?;
    let blocked = match expect_way(handle, &worktree, &target.state, &steps) {
        Ok(()) => Vec::new(),
        Err(GitError::InTheWay { paths }) => paths,
        Err(failure) => return Err(failure),
    };
    Ok(Planned {
        steps,
        blocked,
        branch_to: moves.then_some(target.state.head),
    })
}

/// Finishes the restore to the commit `checkpoint` after a crash. The caller holds the head's lock.
pub(super) fn finish_restore(handle: &Handle, checkpoint: &str) -> Result<()> {
    let worktree = handle.open()?;
    let lock = IndexLock::take(&worktree.index_path())?;
    let id =
        ObjectId::from_hex(checkpoint.as_bytes()).map_err(|_| GitError::CheckpointUnknown {
            revision: checkpoint.to_owned(),
        })?;
    let target = Checkpoint::read(&worktree, &handle.record.id, 0, id)?;
    // What somebody changed since the crash is kept as well.
    let before = keep(handle, &worktree)?;
    let steps = prepare(handle, &worktree, &before.state, &target.state)?;
    Change::new(handle, &worktree, &lock, &before.state, &target.state)?.apply(&steps)?;
    Intent::clear(handle.layout(), &handle.record.id)
}

fn keep(handle: &Handle, worktree: &gix::Repository) -> Result<Checkpoint> {
    checkpoint::take(&handle.context, worktree, &handle.record.id, None)
}

fn prepare(
    handle: &Handle,
    worktree: &gix::Repository,
    before: &Captured,
    target: &Captured,
) -> Result<Vec<Step>> {
    if before.head != target.head {
        handle.expect_own_branch(worktree)?;
    }
    let steps = plan(worktree, before.files, target.files)?;
    expect_way(handle, worktree, target, &steps)?;
    Ok(steps)
}

/// Fails if something that nobody wants changed is where `target` has other files, or none.
fn expect_way(
    handle: &Handle,
    worktree: &gix::Repository,
    target: &Captured,
    steps: &[Step],
) -> Result<()> {
    let files = files_of(handle)?;
    check_way(&files, steps)?;
    // An ignored file would turn into a change of a file that the index knows, and that is to be gone.
    let leaving: BTreeSet<&BString> = steps.iter().map(|step| &step.path).collect();
    let uncaptured = target.manifest.uncaptured.iter();
    let uncaptured: BTreeSet<&BString> = uncaptured.map(|entry| &entry.path).collect();
    let mut paths = Vec::new();
    for gone in plan(worktree, target.index, target.files)? {
        let path = &gone.path;
        if gone.becomes.is_some() || leaving.contains(path) || uncaptured.contains(path) {
            continue;
        }
        let found = files.stat(path.as_bstr())?;
        if found.is_some_and(|found| !FileType::from_raw_mode(found.st_mode).is_dir()) {
            paths.push(path_text(path.as_bstr()));
        }
    }
    if paths.is_empty() {
        Ok(())
    } else {
        Err(GitError::InTheWay { paths })
    }
}

fn files_of(handle: &Handle) -> Result<Files> {
    Files::open(&handle.worktree().folder)
}
