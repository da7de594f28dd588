//! The conversion between files as they are in a worktree and contents as they are stored.

use gix::filter::Pipeline;
use gix::worktree::IndexPersistedOrInMemory;
use gix::worktree::stack::state::attributes::Source;

use crate::error::{GitStep as _, Result};

/// The conversion of files of `worktree`, by the attributes in it, and the index that goes with it.
///
/// The library's own way takes a linked worktree of a bare repository for a bare one, and looks for the attributes in
/// the commit that `HEAD` names instead.
pub(crate) fn conversion(
    worktree: &gix::Repository,
) -> Result<(Pipeline<'_>, IndexPersistedOrInMemory)> {
    let step = "prepare the conversion of files";
    let index = worktree.index_or_empty().git(step)?;
    let attributes = worktree
        .attributes_only(&index, Source::WorktreeThenIdMapping)
        .git(step)?;
    let pipeline = Pipeline::new(worktree, attributes.detach()).git(step)?;
    Ok((pipeline, IndexPersistedOrInMemory::Persisted(index)))
}
