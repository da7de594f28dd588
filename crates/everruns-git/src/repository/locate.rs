//! From any path into a repository to the one directory that all its worktrees share.

use std::fs;
use std::path::{Path, PathBuf};

use gix::discover::upwards::{Options, TrustPolicy};
use gix::sec::Trust;

use super::Opener;
use crate::error::{GitError, GitStep as _, IoStep as _, Result};

/// A repository that was found.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    /// The directory that all worktrees share, absolute and free of links.
    pub(crate) common_dir: PathBuf,
    /// That of the worktree that the path lies in.
    pub(crate) git_dir: PathBuf,
    /// The repository's name for people.
    pub(crate) name: String,
    /// The workspace id that every path into the repository gives.
    pub(crate) workspace: String,
}

/// Finds the repository that holds `path`.
pub(crate) fn locate(path: &Path, opener: &Opener) -> Result<Located> {
    let path = match fs::canonicalize(path) {
        Ok(path) => path,
        Err(failure) if is_missing(&failure) => {
            return Err(GitError::PathMissing {
                path: path.to_owned(),
            });
        }
        Err(failure) => return Err(failure).step("resolve", path),
    };
    let not_one = || GitError::NotARepository { path: path.clone() };
    let start = if path.is_dir() {
        path.clone()
    } else {
        path.parent().unwrap_or(&path).to_owned()
    };
    let options = Options {
        trust: TrustPolicy::Assume(Trust::Reduced),
        ..Options::default()
    };
    let (found, _) = gix::discover::upwards_opts(&start, options).map_err(|_| not_one())?;
    let (git_dir, _) = found.into_repository_and_work_tree_directories();
    let repository = opener.open(&start.join(git_dir))?;
    let common_dir =
        fs::canonicalize(repository.common_dir()).step("resolve", repository.common_dir())?;
    refuse_unsupported(&repository, &common_dir)?;
    Ok(Located {
        name: name_of(&common_dir),
        workspace: workspace_id(&common_dir),
        git_dir: repository.git_dir().to_owned(),
        common_dir,
    })
}

/// Refuses repositories whose references the library can't read.
fn refuse_unsupported(repository: &gix::Repository, common_dir: &Path) -> Result<()> {
    let storage = repository.config_snapshot().string("extensions.refStorage");
    if storage.is_some_and(|storage| storage != "files") {
        return Err(GitError::Unsupported {
            path: common_dir.to_owned(),
            reason: "its references are stored as a reftable",
        });
    }
    repository.head().git("read HEAD").map(drop)
}

/// The id of the workspace whose common directory is `common_dir`.
fn workspace_id(common_dir: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let hash = blake3::hash(common_dir.as_os_str().as_bytes()).to_hex();
    let short: String = hash.chars().take(32).collect();
    format!("git-{short}")
}

/// The folder's name that people know the repository by.
fn name_of(common_dir: &Path) -> String {
    let folder = if common_dir.file_name().is_some_and(|name| name == ".git") {
        common_dir.parent().unwrap_or(common_dir)
    } else {
        common_dir
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".git").unwrap_or(&name);
    // The root of a file system has no name, and a folder may be called nothing but `.git`.
    if name.is_empty() {
        "repository".to_owned()
    } else {
        name.to_owned()
    }
}

/// Whether the path doesn't exist, or can't because a component is no folder.
fn is_missing(failure: &std::io::Error) -> bool {
    matches!(
        failure.kind(),
        std::io::ErrorKind::NotFound
            | std::io::ErrorKind::NotADirectory
            | std::io::ErrorKind::InvalidInput
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repository_has_a_name() {
        let named = |path: &str| name_of(Path::new(path));
        assert_eq!(named("/srv/project/.git"), "project");
        assert_eq!(named("/srv/project.git"), "project");
        assert_eq!(named("/srv/project.git/.git"), "project");
        assert_eq!(named("/.git"), "repository");
        assert_eq!(named("/"), "repository");
        assert_eq!(named("/srv/.git/.git"), "repository");
    }
}
