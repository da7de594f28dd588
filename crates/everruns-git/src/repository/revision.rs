//! Revisions: text that names one commit.

use gix::ObjectId;

use crate::error::{GitError, Result};
use crate::names::shorten;

/// The longest text that is tried as a revision, in bytes.
const LIMIT: usize = 512;

/// Checks the form of a revision before anything is read.
pub(crate) fn check_text(text: &str) -> Result<()> {
    let refuse = |reason| {
        Err(GitError::InvalidRevision {
            revision: shorten(text),
            reason,
        })
    };
    if text.trim().is_empty() {
        return refuse("it is empty");
    }
    if text.len() > LIMIT {
        return refuse("it is longer than 512 bytes");
    }
    if text.starts_with('-') {
        return refuse("it starts with a hyphen, like an option");
    }
    if text.chars().any(char::is_control) {
        return refuse("it holds control characters");
    }
    if text.contains("..") || text.starts_with('^') {
        return refuse("it names a range, not one commit");
    }
    Ok(())
}

/// The commit that `text` names in `repository`.
pub(crate) fn resolve(repository: &gix::Repository, text: &str) -> Result<ObjectId> {
    check_text(text)?;
    let unknown = || unknown_or_empty(repository, text);
    let found = repository.rev_parse_single(text).map_err(|_| unknown())?;
    let object = found.object().map_err(|_| unknown())?;
    let commit = object
        .peel_to_commit()
        .map_err(|_| GitError::InvalidRevision {
            revision: shorten(text),
            reason: "it doesn't name a commit",
        })?;
    Ok(commit.id)
}

/// Why `text` names nothing: the repository has no commits at all, or not this one.
fn unknown_or_empty(repository: &gix::Repository, text: &str) -> GitError {
    let unborn = repository.head().is_ok_and(|head| head.is_unborn());
    let has_branches = repository.references().is_ok_and(|platform| {
        platform
            .local_branches()
            .is_ok_and(|mut branches| branches.next().is_some())
    });
    if unborn && !has_branches {
        GitError::EmptyRepository {
            path: repository.common_dir().to_owned(),
        }
    } else {
        GitError::UnknownRevision {
            revision: text.to_owned(),
        }
    }
}
