//! The place of a submodule, reached without following any link.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, ByteSlice as _};
use gix::sec::Trust;

use crate::files::{Files, Found};

/// What the library reads of a repository when it opens and compares it.
const READ: [&str; 11] = [
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "index",
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
    "objects/info/alternates",
    "packed-refs",
    "shallow",
];

/// What is in the place of a submodule.
pub(crate) enum Place {
    /// No repository: nothing, an empty folder, or no folder at all.
    Nothing,
    /// A repository that can't be looked at, and why.
    Unusable(String),
    /// The submodule's repository.
    Repository(Box<gix::Repository>),
}

/// Opens what is at `path` in the working tree `files` of `worktree`.
///
/// Whoever can write into a head can write its submodules' configuration, so it is never trusted, filters allowed or not.
pub(crate) fn open(worktree: &gix::Repository, files: &Files, path: &BStr) -> Place {
    let mut link = path.to_owned();
    link.extend_from_slice(b"/.git");
    let git_dir = match files.read(link.as_bstr()) {
        Ok(Found::Nothing) => return Place::Nothing,
        Ok(Found::Folder) => files.whole(link.as_bstr()),
        Ok(Found::File { content, .. }) => {
            let named = content.strip_prefix(b"gitdir:").unwrap_or(&content).trim();
            files.whole(path).join(to_path(named.as_bstr()))
        }
        Ok(_) => return Place::Unusable("its .git is neither a file nor a folder".to_owned()),
        Err(failure) => return Place::Unusable(failure.to_string()),
    };
    if let Some(name) = blocking(&git_dir) {
        return Place::Unusable(format!("its {name} is no file"));
    }
    let options = untrusting(worktree).open_path_as_is(false);
    let opened = match gix::open_opts(files.whole(path), options) {
        Ok(opened) => opened,
        Err(failure) => return Place::Unusable(failure.to_string()),
    };
    // Its configuration could send us elsewhere, and so could a link that has taken the folder's place by now.
    let expected = real(&files.whole(BStr::new(""))).map(|root| root.join(to_path(path)));
    if expected.is_none() || opened.workdir().and_then(real) != expected {
        return Place::Unusable("it names another working tree".to_owned());
    }
    Place::Repository(Box::new(opened))
}

/// Opens the Git directory `git_dir` of a submodule, wherever its files are; an error says why it can't be.
pub(crate) fn open_git_dir(
    like: &gix::Repository,
    git_dir: &Path,
) -> Result<gix::Repository, String> {
    if let Some(name) = blocking(git_dir) {
        return Err(format!("its {name} is no file"));
    }
    let options = untrusting(like).open_path_as_is(true);
    gix::open_opts(git_dir, options).map_err(|failure| failure.to_string())
}

/// The options for a repository in whose configuration nothing is trusted.
fn untrusting(like: &gix::Repository) -> gix::open::Options {
    like.open_options().clone().with(Trust::Reduced)
}

/// What in `git_dir` can't be read like a file, such as a pipe at which reading would wait for ever.
pub(super) fn blocking(git_dir: &Path) -> Option<&'static str> {
    READ.into_iter()
        .find(|name| fs::symlink_metadata(git_dir.join(name)).is_ok_and(|found| !found.is_file()))
}

fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

fn to_path(path: &BStr) -> &Path {
    Path::new(OsStr::from_bytes(path))
}
