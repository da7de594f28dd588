//! Destroying a head: its work is under a reference before any of its files go.
//!
//! The folder is moved out of everybody's way first and looked through then, so that nothing is written into it between
//! that look and its end. Whatever speaks against the destruction brings it back.

use everruns_core::failpoint::hit;

use super::busy::InUse;
use super::handle::Handle;
use super::last_look::LastLook;
use super::only_here;
use crate::checkpoint::{self, Checkpoint};
use crate::error::{GitError, Result};
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
    /// The references that keep what only the worktree's record led to.
    pub(crate) also_kept: Vec<String>,
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
    let look = LastLook::prepare(handle)?;
    hit("git.destroy.after-preparation")?;
    Intent {
        head: record,
        operation: Operation::Destroy { kept: None },
    }
    .begin(handle.layout())?;
    let record = finish(handle, look, None)?;
    handle.context.trash.empty_soon(handle.layout());
    again(handle, record)
}

/// Finishes the destruction after a crash, or takes it back if something speaks against it by now. The caller holds the
/// head's lock.
pub(super) fn recover_destruction(handle: &Handle, kept: Option<String>) -> Result<()> {
    let layout = handle.layout();
    let record = handle.reload()?;
    if record.state == HeadState::Destroyed {
        return end(handle, kept).map(drop);
    }
    // What was written since the crash is there too, and a submodule can only be looked at where it belongs.
    handle.worktree().put_back(&layout.leaving(&record.id))?;
    let look = match LastLook::prepare(handle) {
        Ok(look) => look,
        Err(failure) => {
            tell(handle, &failure);
            return Intent::clear(layout, &record.id);
        }
    };
    match finish(handle, look, kept) {
        // It has been taken back.
        Err(failure) if Intent::load(layout, &record.id)?.is_none() => {
            tell(handle, &failure);
            Ok(())
        }
        outcome => outcome.map(drop),
    }
}

fn tell(handle: &Handle, failure: &GitError) {
    tracing::warn!(
        head = handle.record.id,
        error = %failure,
        "an interrupted destruction is taken back"
    );
}

/// Everything after the intent. What fails before all work is kept is taken back.
fn finish(handle: &Handle, look: LastLook, kept: Option<String>) -> Result<HeadRecord> {
    let (layout, id) = (handle.layout(), &handle.record.id);
    match keep_all(handle, look, kept) {
        Ok(kept) => end(handle, kept),
        Err(failure) => {
            let put_back = handle.worktree().put_back(&layout.leaving(id));
            match put_back.and_then(|()| Intent::clear(layout, id)) {
                Ok(()) => Err(failure),
                Err(second) => Err(failure.not_undone(id, second)),
            }
        }
    }
}

/// Moves the folder aside and puts under references what nothing else leads to. Returns that of what was uncommitted.
fn keep_all(handle: &Handle, look: LastLook, kept: Option<String>) -> Result<Option<String>> {
    hit("git.destroy.after-intent")?;
    let (layout, id) = (handle.layout(), &handle.record.id);
    let aside = layout.leaving(id);
    let is_there = handle.worktree().set_aside(&aside)?;
    hit("git.destroy.after-aside")?;
    // What an earlier attempt kept may have been committed since, and is kept nevertheless.
    let kept = match look.keep_uncommitted(handle, is_there.then_some(&aside))? {
        Some(checkpoint) => Some(checkpoint.reference()),
        None => kept,
    };
    hit("git.destroy.after-checkpoint")?;
    only_here::keep_all(handle)?;
    hit("git.destroy.after-references")?;
    if kept.is_some() {
        Intent {
            head: handle.reload()?,
            operation: Operation::Destroy { kept: kept.clone() },
        }
        .save(layout)?;
    }
    Ok(kept)
}

/// Everything after all work is kept; each step may have been done before. The caller holds the head's lock.
fn end(handle: &Handle, kept: Option<String>) -> Result<HeadRecord> {
    let layout = handle.layout();
    let worktree = handle.worktree();
    let mut record = handle.reload()?;
    worktree.discard(&layout.leaving(&record.id), &layout.trash(&record.id))?;
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
    let checkpoint = match &record.kept {
        Some(kept) => checkpoint::list(&repository, &record.id)?
            .into_iter()
            .find(|checkpoint| &checkpoint.reference() == kept),
        None => None,
    };
    Ok(Destroyed {
        checkpoint,
        branch,
        also_kept: only_here::kept(&repository, &record.id)?,
        record,
    })
}
