//! Destroying a head: its work is under a reference before any of its files go.

use std::collections::BTreeSet;

use everruns_core::failpoint::hit;

use super::busy::InUse;
use super::handle::Handle;
use super::submodules::with_own_commits;
use crate::checkpoint::{self, Checkpoint};
use crate::error::{GitError, Result};
use crate::names::path_text;
use crate::objects::{Stored, hold};
use crate::repository::Refs;
use crate::state::{HeadRecord, HeadState, Intent, Lock, NameSlot, Operation, durable};

/// What is left of a destroyed head.
#[derive(Debug, Clone)]
pub(crate) struct Destroyed {
    /// The head's last record.
    pub(crate) record: HeadRecord,
    /// The checkpoint that keeps what was uncommitted.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The branch with its commits; `None` if it never got one.
    pub(crate) branch: Option<String>,
}

/// Destroys the head. Its branch stays; a head that is destroyed already gives the same answer again.
///
/// Nobody may hold it, in this process or another. Another destruction under way is waited for.
pub(crate) fn destroy(handle: &Handle) -> Result<Destroyed> {
    let _lock = handle.lock_to_replace()?;
    let record = handle.reload()?;
    if record.state == HeadState::Destroyed {
        return again(handle, record);
    }
    let _alone = InUse::alone(handle.layout(), &record.id)?;
    let kept = keep_uncommitted(handle)?;
    hit("git.destroy.after-checkpoint")?;
    let kept = kept.map(|checkpoint| checkpoint.reference());
    Intent {
        head: record,
        operation: Operation::Destroy { kept: kept.clone() },
    }
    .begin(handle.layout())?;
    hit("git.destroy.after-intent")?;
    let record = finish_destruction(handle, kept)?;
    handle.context.trash.empty_soon(handle.layout());
    again(handle, record)
}

/// Puts what no commit holds under a reference; `None` if a commit holds everything.
fn keep_uncommitted(handle: &Handle) -> Result<Option<Checkpoint>> {
    let mut worktree = match handle.open() {
        Ok(worktree) => worktree,
        // Somebody removed the folder: nothing is left to keep, but the record may hold submodules' commits.
        Err(GitError::WorktreeMissing { .. }) => {
            refuse_others(with_own_commits(handle, None)?)?;
            return Ok(None);
        }
        Err(failure) => return Err(failure),
    };
    hold(&mut worktree);
    let capture = checkpoint::capture_with_changes(&worktree)?;
    let captured = &capture.state;
    let mut repositories: Vec<String> = captured
        .manifest
        .uncaptured
        .iter()
        .filter(|entry| entry.holds_work)
        .map(|entry| path_text(entry.path.as_ref()))
        .collect();
    repositories.extend(with_own_commits(handle, Some(&worktree))?);
    refuse_others(repositories)?;
    if captured.is_clean() && on_own_branch(handle, &worktree, captured) {
        return Ok(None);
    }
    let label = Some("before the head was destroyed");
    let (context, id) = (&handle.context, &handle.record.id);
    let stored = Stored::Unknown;
    let taken = checkpoint::take_captured(context, &worktree, id, &capture, label, stored)?;
    Ok(Some(taken.checkpoint))
}

/// Fails if `repositories` hold work that would go with the head and is in no repository that stays.
fn refuse_others(mut repositories: Vec<String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    repositories.retain(|path| seen.insert(path.clone()));
    if repositories.is_empty() {
        return Ok(());
    }
    Err(GitError::HoldsOtherWork {
        paths: repositories,
    })
}

/// Whether the head's own branch leads to the commit that is checked out.
fn on_own_branch(
    handle: &Handle,
    worktree: &gix::Repository,
    captured: &checkpoint::Captured,
) -> bool {
    let branch = worktree.try_find_reference(handle.record.branch_ref().as_str());
    branch.is_ok_and(|found| match found {
        Some(found) => found.try_id().is_some_and(|id| id == captured.head),
        // A branch without commits leads to nothing, and that is all there is.
        None => captured.commit().is_none(),
    })
}

/// Everything after the intent; each step may have been done before. The caller holds the head's lock.
pub(super) fn finish_destruction(handle: &Handle, kept: Option<String>) -> Result<HeadRecord> {
    let layout = handle.layout();
    let worktree = handle.worktree();
    let mut record = handle.reload()?;
    worktree.discard(&layout.trash(&record.id))?;
    hit("git.destroy.after-move")?;
    {
        let _shared = Lock::acquire(
            &layout.repository_lock(&record.workspace),
            &record.workspace,
        )?;
        worktree.unregister()?;
    }
    hit("git.destroy.after-record")?;
    record.state = HeadState::Destroyed;
    record.kept = kept;
    record.save(layout)?;
    hit("git.destroy.after-state")?;
    NameSlot::new(layout, &record.workspace, &record.name).free(&record.id)?;
    durable::remove(&layout.claim(&record.workspace, &record.id))?;
    Intent::clear(layout, &record.id)?;
    hit("git.destroy.after-clear")?;
    Ok(record)
}

/// The answer for a head that is destroyed.
fn again(handle: &Handle, record: HeadRecord) -> Result<Destroyed> {
    let repository = handle.context.repository(&handle.workspace)?;
    let refs = Refs::new(&repository, handle.context.now());
    let branch = refs
        .target(&record.branch_ref())?
        .map(|_| record.branch.clone());
    let Some(kept) = &record.kept else {
        return Ok(Destroyed {
            record,
            checkpoint: None,
            branch,
        });
    };
    let checkpoints = checkpoint::list(&repository, &record.id)?;
    let checkpoint = checkpoints
        .into_iter()
        .find(|checkpoint| &checkpoint.reference() == kept);
    Ok(Destroyed {
        record,
        checkpoint,
        branch,
    })
}
