//! The states that can be compared, as trees.

use everruns_core::workspace::DiffBase;
use gix::ObjectId;

use crate::checkpoint;
use crate::error::{GitError, GitStep as _, Result};
use crate::head::{self, Handle};
use crate::repository;

/// The tree of the state `base`; of the present files when `None`, for which `worktree` keeps new objects in memory.
pub(super) fn tree(
    handle: &Handle,
    worktree: &gix::Repository,
    base: Option<&DiffBase>,
) -> Result<ObjectId> {
    let commit = match base {
        None => return Ok(checkpoint::capture_in_memory(worktree)?.files),
        Some(DiffBase::Checkpoint(wanted)) => {
            return Ok(head::kept(handle, wanted)?.state.files);
        }
        Some(DiffBase::Revision(text)) => repository::resolve(worktree, text)?,
        Some(_) => base_of(&handle.record.base)?,
    };
    // The base of a head that was made from nothing is the empty tree.
    let found = worktree.find_object(commit).git("read a commit")?;
    Ok(found.peel_to_tree().git("read a commit")?.id)
}

/// The commit that the head was made from, or the empty tree.
fn base_of(base: &str) -> Result<ObjectId> {
    ObjectId::from_hex(base.as_bytes()).map_err(|_| GitError::UnknownRevision {
        revision: base.to_owned(),
    })
}
