//! What an index is told about how to look at files: marks that are part of no state, and stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::BString;
use gix::index::State;
use gix::index::entry::Flags;

use crate::error::{GitStep as _, Result};

/// The marks at each path that has one.
pub(crate) type Marks = BTreeMap<BString, Flags>;

/// The marks that `git update-index` sets with `--assume-unchanged` and `--skip-worktree`.
const MARKS: Flags = Flags::ASSUME_VALID.union(Flags::SKIP_WORKTREE);

/// The marks in `index`.
pub(crate) fn marks(index: &State) -> Marks {
    let marked = index.entries().iter();
    marked
        .filter(|entry| entry.flags.intersects(MARKS))
        .map(|entry| (entry.path(index).to_owned(), entry.flags & MARKS))
        .collect()
}

/// The marks that a head made of the present state of `worktree` needs for its status to be the same.
///
/// What a sparse checkout leaves out is there in the new head, and Git doesn't believe such a mark of a file that is there.
pub(crate) fn marks_for_fork(worktree: &gix::Repository) -> Result<Marks> {
    let index = worktree.index_or_empty().git("read the index")?;
    let mut marks = marks(&index);
    let config = worktree.config_snapshot();
    if config.boolean("core.sparseCheckout") == Some(true) {
        for mark in marks.values_mut() {
            mark.remove(Flags::SKIP_WORKTREE);
        }
        marks.retain(|_, mark| !mark.is_empty());
    }
    Ok(marks)
}

/// Sets `marks` in `index`, at the paths that it has.
pub(super) fn mark(index: &mut State, marks: &Marks) {
    if marks.is_empty() {
        return;
    }
    for (entry, path) in index.entries_mut_with_paths() {
        if let Some(mark) = marks.get(path) {
            entry.flags |= *mark;
            if mark.contains(Flags::SKIP_WORKTREE) {
                entry.flags |= Flags::EXTENDED;
            }
        }
    }
}

/// The paths that a sparse checkout leaves out of the working tree.
pub(crate) fn left_out(index: &State) -> BTreeSet<BString> {
    let entries = index.entries().iter();
    entries
        .filter(|entry| entry.flags.contains(Flags::SKIP_WORKTREE))
        .map(|entry| entry.path(index).to_owned())
        .collect()
}
