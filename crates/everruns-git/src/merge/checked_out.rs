//! Where a branch is checked out.

use std::fs;
use std::path::{Path, PathBuf};

use super::under_way;
use crate::error::{IoStep as _, Result};
use crate::state::durable;

/// A worktree that has a branch checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The worktree's own Git directory.
    pub(super) git_dir: PathBuf,
    /// The folder with its files, as far as it is known.
    pub(super) folder: PathBuf,
    /// The operation of Git's that has the branch in its hands, where `HEAD` doesn't name it; told as a reason.
    pub(super) held: Option<&'static str>,
}

/// The worktrees that have the branch `reference` checked out, or will have when an operation in them ends.
///
/// The records are read as files, because a damaged one of another worktree must not keep this from working.
pub(super) fn places(repository: &gix::Repository, reference: &str) -> Result<Vec<Place>> {
    let common =
        fs::canonicalize(repository.common_dir()).step("resolve", repository.common_dir())?;
    let mut places = Vec::new();
    if !is_bare(repository)
        && let Some(held) = has(&common, reference)?
    {
        places.push(Place {
            folder: main_folder(&common),
            git_dir: common.clone(),
            held: held.reason(),
        });
    }
    let records = common.join("worktrees");
    let entries = match fs::read_dir(&records) {
        Ok(entries) => entries,
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(places),
        Err(failure) => return Err(failure).step("list", &records),
    };
    for entry in entries {
        let record = entry.step("list", &records)?.path();
        if let Some(held) = has(&record, reference)? {
            places.push(Place {
                folder: folder_of(&record),
                git_dir: record,
                held: held.reason(),
            });
        }
    }
    Ok(places)
}

/// How a worktree has a branch.
enum Has {
    /// `HEAD` names it.
    Head,
    /// An operation has it in its hands.
    Operation(&'static str),
}

impl Has {
    fn reason(self) -> Option<&'static str> {
        match self {
            Self::Head => None,
            Self::Operation(reason) => Some(reason),
        }
    }
}

/// How the worktree with the Git directory `git_dir` has the branch `reference`, if it does.
fn has(git_dir: &Path, reference: &str) -> Result<Option<Has>> {
    // An operation goes first: with one under way the worktree can't follow, whatever its `HEAD` names.
    if let Some(reason) = under_way::holds(git_dir, reference) {
        return Ok(Some(Has::Operation(reason)));
    }
    Ok(names(&git_dir.join("HEAD"), reference)?.then_some(Has::Head))
}

/// Whether the branch `reference`, which has no commit, is the one that the repository's first commit is to make.
///
/// Any other name that has no commit is more likely a slip than a wish for a new branch.
pub(super) fn is_to_be_born(repository: &gix::Repository, reference: &str) -> Result<bool> {
    names(&repository.common_dir().join("HEAD"), reference)
}

/// Whether the repository has no main worktree.
fn is_bare(repository: &gix::Repository) -> bool {
    repository.config_snapshot().boolean("core.bare") == Some(true)
}

/// The folder of the main worktree: the one that the repository's own configuration names, as a submodule's does.
fn main_folder(common: &Path) -> PathBuf {
    let source = gix::config::Source::Local;
    let config = gix::config::File::from_path_no_includes(common.join("config"), source).ok();
    let named = config.and_then(|config| {
        let value = config.string("core.worktree")?;
        let path = gix::path::from_bstr(value).ok()?;
        fs::canonicalize(common.join(path)).ok()
    });
    named.unwrap_or_else(|| common.parent().unwrap_or(common).to_owned())
}

/// Whether the `HEAD` file at `path` names `reference`.
fn names(path: &Path, reference: &str) -> Result<bool> {
    let Some(content) = durable::read(path)? else {
        return Ok(false);
    };
    let target = content.strip_prefix(b"ref:").map(<[u8]>::trim_ascii);
    Ok(target == Some(reference.as_bytes()))
}

/// The folder of the worktree with this record; the record itself if it doesn't say.
fn folder_of(record: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let link = durable::read(&record.join("gitdir"))
        .ok()
        .flatten()
        .unwrap_or_default();
    let link = Path::new(std::ffi::OsStr::from_bytes(link.trim_ascii()));
    match link.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => record.to_owned(),
    }
}
