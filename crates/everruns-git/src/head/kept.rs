//! Checkpoints as callers name them.

use everruns_core::workspace::WorkspaceCheckpoint;

use super::Handle;
use crate::checkpoint::{self, Checkpoint};
use crate::error::{GitError, Result};

/// The checkpoint that `wanted` describes, of the head of `handle` or of another of its workspace.
pub(crate) fn kept(handle: &Handle, wanted: &WorkspaceCheckpoint) -> Result<Checkpoint> {
    let unknown = || GitError::CheckpointUnknown {
        revision: wanted.revision.clone(),
    };
    let owner = handle
        .context
        .head(&handle.workspace.id, wanted.head_id.as_str());
    let (_, owner) = owner.map_err(|_| unknown())?;
    let repository = handle.context.repository(&handle.workspace)?;
    checkpoint::find(&repository, &owner.id, &wanted.revision)
}
