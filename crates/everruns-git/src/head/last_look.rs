//! The look through a head's folder that finds what would be lost with it.

use std::collections::BTreeSet;
use std::path::Path;

use gix::index::entry::Mode;

use super::handle::Handle;
use super::submodules::with_own_commits;
use crate::checkpoint::{self, Captured, Checkpoint};
use crate::error::{GitError, GitStep as _, Result};
use crate::names::path_text;
use crate::objects::{Stored, hold};

/// What is known before the folder is moved aside.
pub(super) struct LastLook {
    /// The worktree; `None` if its folder is gone.
    worktree: Option<gix::Repository>,
    /// Its state, if there are submodules: they can only be looked at where they belong.
    in_place: Option<Captured>,
}

impl LastLook {
    /// Proves that the folder is the head's, and refuses if a submodule holds work that is nowhere else.
    pub(super) fn prepare(handle: &Handle) -> Result<Self> {
        let mut worktree = match handle.open() {
            Ok(worktree) => worktree,
            // Somebody removed the folder: nothing is left in it, but the record may hold submodules' commits.
            Err(GitError::WorktreeMissing { .. }) => {
                refuse(with_own_commits(handle, None)?)?;
                return Ok(Self {
                    worktree: None,
                    in_place: None,
                });
            }
            Err(failure) => return Err(failure),
        };
        hold(&mut worktree);
        let index = worktree.index_or_empty().git("read the index")?;
        let mut in_place = None;
        let mut repositories = Vec::new();
        if index
            .entries()
            .iter()
            .any(|entry| entry.mode == Mode::COMMIT)
        {
            let captured = checkpoint::capture_with_changes(&worktree)?.state;
            repositories = other_work(&captured);
            in_place = Some(captured);
        }
        repositories.extend(with_own_commits(handle, Some(&worktree))?);
        refuse(repositories)?;
        Ok(Self {
            worktree: Some(worktree),
            in_place,
        })
    }

    /// Puts what no commit holds under a reference, now that the folder is `aside`; `None` if a commit holds everything.
    pub(super) fn keep_uncommitted(
        self,
        handle: &Handle,
        aside: Option<&Path>,
    ) -> Result<Option<Checkpoint>> {
        let (Some(mut worktree), Some(aside)) = (self.worktree, aside) else {
            return Ok(None);
        };
        handle.worktree().verify_aside(aside)?;
        worktree
            .set_workdir(aside.to_owned())
            .git("open the head's folder")?;
        let capture = checkpoint::capture_away(&worktree, self.in_place.as_ref())?;
        refuse(other_work(&capture.state))?;
        if capture.state.is_clean() && on_own_branch(handle, &worktree, &capture.state) {
            return Ok(None);
        }
        let label = Some("before the head was destroyed");
        let (context, id) = (&handle.context, &handle.record.id);
        let stored = Stored::Unknown;
        let taken = checkpoint::take_captured(context, &worktree, id, &capture, label, stored)?;
        Ok(Some(taken.checkpoint))
    }
}

/// The paths of `captured` that hold work which no checkpoint can keep.
fn other_work(captured: &Captured) -> Vec<String> {
    let uncaptured = captured.manifest.uncaptured.iter();
    uncaptured
        .filter(|entry| entry.holds_work)
        .map(|entry| path_text(entry.path.as_ref()))
        .collect()
}

/// Fails if `paths` hold work that would go with the head and is in no repository that stays.
fn refuse(mut paths: Vec<String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    if paths.is_empty() {
        return Ok(());
    }
    Err(GitError::HoldsOtherWork { paths })
}

/// Whether the head's own branch leads to the commit that is checked out.
fn on_own_branch(handle: &Handle, worktree: &gix::Repository, captured: &Captured) -> bool {
    let branch = worktree.try_find_reference(handle.record.branch_ref().as_str());
    branch.is_ok_and(|found| match found {
        Some(found) => found.try_id().is_some_and(|id| id == captured.head),
        // A branch without commits leads to nothing, and that is all there is.
        None => captured.commit().is_none(),
    })
}
