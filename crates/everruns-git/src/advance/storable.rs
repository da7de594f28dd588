//! Refusing to make commits of what no commit can hold.

use gix::bstr::ByteSlice as _;

use crate::checkpoint::Captured;
use crate::error::{GitError, GitStep as _, Result};
use crate::names::path_text;

/// Fails if something that no tree can hold took the place of a tracked file, which would look like its removal, or
/// if a file is too large to be stored.
pub(crate) fn expect_storable(worktree: &gix::Repository, captured: &Captured) -> Result<()> {
    let index = worktree.index_or_empty().git("read the index")?;
    let paths: Vec<String> = captured
        .manifest
        .uncaptured
        .iter()
        .filter(|entry| {
            let known = index.entry_range(entry.path.as_bstr());
            // Of a submodule, a commit holds which commit is checked out, and nothing is meant to hold more.
            known.is_some_and(|range| {
                index.entries()[range]
                    .iter()
                    .any(|entry| entry.mode != gix::index::entry::Mode::COMMIT)
            })
        })
        .map(|entry| path_text(entry.path.as_bstr()))
        .collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(GitError::NotStorable { paths })
    }
}
