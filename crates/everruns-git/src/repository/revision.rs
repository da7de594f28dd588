//! Revisions: text that names one commit.

use gix::ObjectId;

use crate::error::{GitError, GitStep as _, Result};
use crate::names::shorten;

/// The longest text that is tried as a revision, in bytes.
const LIMIT: usize = 512;

/// What the full names of our own references start with.
const OWN: [&str; 2] = ["refs/heads/everruns/", "refs/everruns/"];

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
    let unknown = || unknown_or_empty(repository, text).unwrap_or_else(|failure| failure);
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
    if is_empty(repository)? {
        return Ok(None);
    }
    resolve(repository, "HEAD").map(Some)
}

/// Whether the repository has no commits of its user's: no branch, tag or other reference, and `HEAD` names a branch to
/// come.
///
/// Where `HEAD` alone is unborn, a head without files would be a surprise. Our own references don't count: they may be
/// those of earlier heads that were made from nothing.
fn is_empty(repository: &gix::Repository) -> Result<bool> {
    if !repository.head().git("read HEAD")?.is_unborn() {
        return Ok(false);
    }
    let step = "list the references";
    for found in repository.references().git(step)?.all().git(step)? {
        let found = found.git(step)?;
        let name = found.name().as_bstr();
        if !OWN.iter().any(|own| name.starts_with(own.as_bytes())) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Why `text` names nothing: the repository has no commits at all, or not this one.
fn unknown_or_empty(repository: &gix::Repository, text: &str) -> Result<GitError> {
    Ok(if is_empty(repository)? {
        GitError::EmptyRepository {
            path: repository.common_dir().to_owned(),
        }
    } else {
        GitError::UnknownRevision {
            revision: text.to_owned(),
        }
    })
}
