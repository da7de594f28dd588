//! Differences between the states that a caller names.

use everruns_core::workspace::{DiffRequest, WorkspaceDiff, WorkspacePatch};
use gix::ObjectId;

use super::files::{Bounds, compare};
use super::patch::{self, PatchBounds};
use super::states;
use crate::error::Result;
use crate::head::Handle;

/// How the two states of `request` differ.
pub(crate) fn range(handle: &Handle, request: &DiffRequest) -> Result<WorkspaceDiff> {
    let (worktree, old, new) = trees(handle, request)?;
    let bounds = match request.limit {
        Some(1) => Bounds::of_one(),
        _ => Bounds::default(),
    };
    let bounds = Bounds {
        skip: request.skip,
        files: request.limit.unwrap_or(bounds.files).min(bounds.files),
        ..bounds
    };
    compare(&worktree, old, new, bounds)
}

/// The same as a patch.
pub(crate) fn patch(handle: &Handle, request: &DiffRequest) -> Result<WorkspacePatch> {
    let (worktree, old, new) = trees(handle, request)?;
    let bounds = PatchBounds::default();
    let bounds = PatchBounds {
        skip: request.skip,
        files: request.limit.unwrap_or(bounds.files).min(bounds.files),
        ..bounds
    };
    patch::write(&worktree, old, new, bounds)
}

fn trees(handle: &Handle, request: &DiffRequest) -> Result<(gix::Repository, ObjectId, ObjectId)> {
    // What is only looked at is not stored.
    let worktree = handle.open()?.with_object_memory();
    let old = states::tree(handle, &worktree, Some(&request.from))?;
    let new = states::tree(handle, &worktree, request.to.as_ref())?;
    Ok((worktree, old, new))
}
