//! Branches and what their histories share.

use gix::ObjectId;

use crate::error::{GitError, GitStep as _, Result};
use crate::names::shorten;

/// The full name of the branch.
pub(super) fn reference(branch: &str) -> Result<String> {
    let full = format!("refs/heads/{branch}");
    let valid = !branch.starts_with('-') && gix::refs::FullName::try_from(full.as_str()).is_ok();
    if valid {
        return Ok(full);
    }
    Err(GitError::InvalidRevision {
        revision: shorten(branch),
        reason: "it can't be the name of a branch",
    })
}

/// The best common ancestor; `None` for histories that have none.
pub(super) fn merge_base(
    repository: &gix::Repository,
    one: ObjectId,
    two: ObjectId,
) -> Result<Option<ObjectId>> {
    Ok(repository
        .merge_base(one, two)
        .git("find the merge base")?
        .map(gix::Id::detach))
}

/// Whether the history of `tip` holds `commit`.
pub(super) fn contains(
    repository: &gix::Repository,
    tip: ObjectId,
    commit: ObjectId,
) -> Result<bool> {
    Ok(merge_base(repository, tip, commit)? == Some(commit))
}

/// The tree of a commit; the empty one for the null id, which stands for no commit yet.
pub(super) fn tree_of(repository: &gix::Repository, commit: ObjectId) -> Result<ObjectId> {
    if commit.is_null() {
        return Ok(ObjectId::empty_tree(commit.kind()));
    }
    let commit = repository.find_commit(commit).git("read a commit")?;
    Ok(commit.tree_id().git("read a commit")?.detach())
}
