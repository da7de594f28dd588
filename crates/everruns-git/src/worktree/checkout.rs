//! Filling an empty worktree with the files of a tree.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::progress::Discard;
use gix::worktree::stack::state::attributes::Source;

use super::contents::{Contents, Remembering};
use crate::error::{GitError, GitStep as _, Result};

/// Writes the files of `tree` into the folder of `worktree`, which holds nothing but `.git`, on all cores.
///
/// `contents` holds what was read of the repository before. Returns the index that describes the files as written. Nothing is written over: a file that is in the way,
/// because two names are one on this disk, is an error that names it.
pub(crate) fn populate(
    worktree: &gix::Repository,
    tree: ObjectId,
    contents: Arc<Contents>,
) -> Result<gix::index::File> {
    let folder = worktree.workdir().ok_or_else(|| GitError::Unsupported {
        path: worktree.git_dir().to_owned(),
        reason: "its record names no folder",
    })?;
    let mut index = worktree
        .index_from_tree(&tree)
        .git("read the tree to check out")?;
    let mut options = worktree
        .checkout_options(Source::IdMapping)
        .git("prepare the checkout")?;
    options.destination_is_initially_empty = true;
    let mut objects = worktree.objects.clone();
    // Contents are kept elsewhere, and trees are not needed again.
    objects.unset_object_cache();
    let objects = objects
        .into_arc()
        .map_err(gix::Error::from_error)
        .git("open the objects")?;
    let objects = Remembering { objects, contents };
    let outcome = gix::worktree::state::checkout(
        &mut index,
        folder,
        objects,
        &Discard,
        &Discard,
        &AtomicBool::new(false),
        options,
    )
    .git("check out the files")?;
    if outcome.collisions.is_empty() {
        return Ok(index);
    }
    Err(GitError::InTheWay {
        paths: outcome
            .collisions
            .iter()
            .map(|collision| collision.path.to_string())
            .collect(),
    })
}
