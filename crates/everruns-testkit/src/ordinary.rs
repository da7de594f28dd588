//! Programs that run as an ordinary user, also where the tests are root's.

use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// `nobody` on every system that has one.
const NOBODY: u32 = 65_534;

/// Whether this process may do everything.
///
/// # Errors
///
/// When no temporary file can be made.
pub fn is_root() -> io::Result<bool> {
    // What a process makes belongs to its user.
    Ok(tempfile::NamedTempFile::new()?.path().metadata()?.uid() == 0)
}

/// A command that runs in `folder`, which is made its own, as an ordinary user.
///
/// # Errors
///
/// When the folder cannot be given away.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where tests start programs as another user"
)]
pub fn command(program: &Path, folder: &Path) -> io::Result<Command> {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if is_root()? {
        chown(folder, Some(NOBODY), Some(NOBODY))?;
        command.uid(NOBODY).gid(NOBODY);
    }
    Ok(command)
}
