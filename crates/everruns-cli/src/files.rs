//! Files that the user names, to be written whole or not at all.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::blocking::blocking;
use crate::failure::Failure;
use crate::own_files::refuse_own;
use crate::state::StateFolder;

/// The hint for a file that is in the way.
const FORCE: &str = "choose another name, or replace it with `--force`";

/// A file that gets its name when it is complete.
pub(crate) struct Draft {
    file: NamedTempFile,
    target: PathBuf,
}

impl Draft {
    pub(crate) fn new(target: &Path) -> Result<Self, Failure> {
        Ok(Self {
            file: NamedTempFile::new_in(folder(target)).map_err(|error| cannot(target, &error))?,
            target: target.to_owned(),
        })
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.file, "{text}").map_err(|error| cannot(&self.target, &error))
    }

    /// Gives the file its name; replaces another of that name only with `force`.
    pub(crate) fn finish(self, force: bool) -> Result<(), Failure> {
        let Self { file, target } = self;
        file.as_file()
            .sync_all()
            .map_err(|error| cannot(&target, &error))?;
        let named = if force {
            file.persist(&target)
        } else {
            file.persist_noclobber(&target)
        };
        match named {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                Err(in_the_way(&target))
            }
            Err(error) => Err(cannot(&target, &error.error)),
        }
    }
}

/// A folder beside `target` for a file that another writes and that is then moved over it.
pub(crate) fn beside(target: &Path) -> Result<TempDir, Failure> {
    TempDir::new_in(folder(target)).map_err(|error| cannot(target, &error))
}

/// Whether there is anything of this name.
pub(crate) async fn exists(path: &Path) -> Result<bool, Failure> {
    let path = path.to_owned();
    blocking(move || match std::fs::symlink_metadata(&path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::new(format!(
            "{} cannot be looked at: {error}",
            path.display()
        ))),
    })
    .await
}

/// Refuses a file that cannot be made: where its folder is not there, where the sessions themselves are, and, without
/// `force`, where it exists.
pub(crate) async fn check_target(
    state: &StateFolder,
    target: &Path,
    force: bool,
) -> Result<(), Failure> {
    let parent = folder(target);
    if !exists(parent).await? {
        return Err(Failure::new(format!(
            "the folder {} is not there",
            parent.display()
        )));
    }
    if !force && exists(target).await? {
        return Err(in_the_way(target));
    }
    let (database, target) = (state.database(), target.to_owned());
    blocking(move || refuse_own(&database, &target)).await
}

/// Moves `from` to `to` in the same file system, and what was there is gone.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::rename(from, to).map_err(|error| cannot(to, &error))
}

fn in_the_way(target: &Path) -> Failure {
    Failure::new(format!("{} exists already", target.display())).hint(FORCE)
}

fn cannot(target: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", target.display()))
}

/// The folder that `target` is in or is to be in.
pub(crate) fn folder(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
