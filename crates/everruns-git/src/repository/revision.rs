//! Revisions: text that names one commit.

use gix::ObjectId;

use crate::error::{GitError, Result};
use crate::names::shorten;

/// The longest text that is tried as a revision, in bytes.
const LIMIT: usize = 512;

/// What the full names of heads' branches start with.
const OWN_BRANCHES: &str = "refs/heads/everruns/";

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

/// The commit that a head starts from by default: that of `HEAD`, or `None` in a repository without commits.
pub(crate) fn default_start(repository: &gix::Repository) -> Result<Option<ObjectId>> {
    if is_empty(repository) {
        return Ok(None);
    }
    resolve(repository, "HEAD").map(Some)
}

/// Whether the repository has no commits of its user's: no branch, local or remote, and `HEAD` names one to come.
///
/// Where `HEAD` alone is unborn, a head without files would be a surprise. Our own branches don't count: they may be
/// those of earlier heads that were made from nothing.
fn is_empty(repository: &gix::Repository) -> bool {
    let has_branches = |prefix: &str| {
        repository.references().is_ok_and(|platform| {
            platform.prefixed(prefix).is_ok_and(|found| {
                found
                    .flatten()
                    .any(|found| !found.name().as_bstr().starts_with(OWN_BRANCHES.as_bytes()))
            })
        })
    };
    repository.head().is_ok_and(|head| head.is_unborn())
        && !has_branches("refs/heads/")
        && !has_branches("refs/remotes/")
}

/// Why `text` names nothing: the repository has no commits at all, or not this one.
fn unknown_or_empty(repository: &gix::Repository, text: &str) -> GitError {
    if is_empty(repository) {
        GitError::EmptyRepository {
            path: repository.common_dir().to_owned(),
        }
    } else {
        GitError::UnknownRevision {
            revision: text.to_owned(),
        }
    }
}
