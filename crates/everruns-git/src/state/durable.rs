//! Files that are either old or new after a crash, never half.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{IoStep as _, Result};

/// What the names of files start with that are not what they are going to be yet.
pub(crate) const TEMPORARY_PREFIX: &str = ".new-";

/// Writes `bytes` to `path` so that a crash leaves the old or the new content, and the new one once this returned.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = parent(path);
    let mut temporary = temporary(folder)?;
    temporary.write_all(bytes).step("write", path)?;
    temporary.as_file().sync_all().step("flush", path)?;
    temporary
        .persist(path)
        .map_err(|failure| failure.error)
        .step("replace", path)?;
    sync_folder(folder)
}

/// Creates `path` with `bytes`, durable once this returned; `false` if it exists already.
pub(crate) fn create_new(path: &Path, bytes: &[u8]) -> Result<bool> {
    let folder = parent(path);
    let mut temporary = temporary(folder)?;
    temporary.write_all(bytes).step("write", path)?;
    temporary.as_file().sync_all().step("flush", path)?;
    match temporary.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map(|()| true),
        Err(failure) if failure.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(failure) => Err(failure.error).step("create", path),
    }
}

/// Opened here, because the library would hide the system's code, by which too many open files are told.
fn temporary(folder: &Path) -> Result<NamedTempFile> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .make_in(folder, |path| options.open(path))
        .step("make a temporary file in", folder)
}

/// Removes `path` if it is there, durable once this returned.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder(parent(path)),
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(failure) => Err(failure).step("remove", path),
    }
}

/// Renames `from` to `to`, durable in both folders once this returned.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).step("move", from)?;
    sync_folder(parent(to))?;
    sync_folder(parent(from))
}

/// Makes the entries of `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let handle = fs::OpenOptions::new()
        .read(true)
        .open(folder)
        .step("open", folder)?;
    handle.sync_all().step("flush", folder)
}

/// The whole content of `path`, or `None` if it isn't there.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(failure) => Err(failure).step("read", path),
    }
}

/// The folder that holds `path`.
fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
