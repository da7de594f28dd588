//! Whether the file and its folder may be written, before SQLite tries.
//!
//! SQLite falls back to reading when it may not write, and gives the two files that it makes beside a database the
//! permissions of the database: they would stay behind, and be in the way once the permissions are put right.

use std::io;
use std::path::Path;

use everruns_core::session::StoreError;

/// Fails with `ReadOnly` unless the file, if there is one, and its folder may be read and written.
pub(super) fn check(location: &Path) -> Result<(), StoreError> {
    let read_only = |what: &str, error: &io::Error| StoreError::ReadOnly {
        location: location.to_owned(),
        reason: format!("{what} may not be written: {error}"),
    };
    match may_write(location) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(read_only("the file", &error));
        }
        _ => {}
    }
    match location.parent().map(may_write) {
        Some(Err(error)) => Err(read_only("its folder", &error)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn may_write(path: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let wanted = Access::READ_OK | Access::WRITE_OK;
    Ok(accessat(CWD, path, wanted, AtFlags::EACCESS)?)
}

#[cfg(not(unix))]
fn may_write(path: &Path) -> io::Result<()> {
    let metadata = std::fs::metadata(path)?;
    // Says nothing about a folder there.
    if metadata.is_file() && metadata.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}
