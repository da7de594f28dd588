//! Writing an index so that readers see the old or the new one.

use everruns_core::failpoint::hit;
use gix::ObjectId;

use super::cached_trees;
use super::lock::IndexLock;
use crate::error::{GitStep as _, Result};

/// Replaces the index of `worktree`, whose lock is held, by `index`; `tree` says so if it holds exactly that tree.
pub(crate) fn replace(
    lock: &IndexLock,
    worktree: &gix::Repository,
    index: &gix::index::State,
    tree: Option<ObjectId>,
) -> Result<()> {
    let step = "write the index";
    let mut bytes = Vec::with_capacity(index.entries().len() * 100);
    let options = gix::index::write::Options {
        extensions: gix::index::write::Extensions::None,
        skip_hash: false,
    };
    index.write_to(&mut bytes, options).git(step)?;
    if let Some(tree) = tree
        && let Some(extension) = cached_trees::extension(worktree, tree)?
    {
        bytes.extend_from_slice(&extension);
    }
    let mut hasher = gix::hash::hasher(worktree.object_hash());
    hasher.update(&bytes);
    bytes.extend_from_slice(hasher.try_finalize().git(step)?.as_bytes());

    hit("git.index.after-lock")?;
    lock.replace(&bytes)
}
