//! The files that the sessions are in, whose place nothing may take that the user has written.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::folder;

/// What SQLite adds to the name of a database for the files beside it.
const SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Refuses `target` when it is `database` or one of the files beside it, under whatever name or link.
///
/// Those that are not there are refused by their place: SQLite would take what it finds there for its own.
pub(crate) fn refuse_own(database: &Path, target: &Path) -> Result<(), Failure> {
    for suffix in SUFFIXES {
        let own = with_suffix(database, suffix);
        let looked = same_file(&own, target).and_then(|same| Ok(same || same_place(&own, target)?));
        match looked {
            Ok(false) => {}
            Ok(true) => {
                return Err(Failure::new(format!(
                    "{} is where the sessions themselves are: nothing was written",
                    target.display()
                ))
                .hint("choose another name"));
            }
            Err(error) => {
                return Err(Failure::new(format!(
                    "{} cannot be told from {}: {error}",
                    target.display(),
                    own.display()
                )));
            }
        }
    }
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether both are there and are one file.
fn same_file(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(identity(one)?.is_some_and(|found| identity(other).is_ok_and(|it| it == Some(found))))
}

/// Whether both are one name in one folder, there or not.
fn same_place(one: &Path, other: &Path) -> io::Result<bool> {
    let name = |path: &Path| path.file_name().map(OsStr::to_owned);
    if name(one).is_none() || name(one) != name(other) {
        return Ok(false);
    }
    Ok(identity(folder(one))?.is_some() && identity(folder(one))? == identity(folder(other))?)
}

/// The device and the number of what is there at last, if it is.
fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some((found.dev(), found.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_database_is_known_under_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("state")).unwrap();
        let database = at("state/sessions.db");
        std::fs::write(&database, "sessions").unwrap();
        std::fs::write(at("state/sessions.db-wal"), "log").unwrap();
        std::fs::write(at("notes.txt"), "notes").unwrap();
        symlink(&database, at("link.db")).unwrap();
        symlink(at("link.db"), at("link of link.db")).unwrap();
        symlink(at("state"), at("folder")).unwrap();
        std::fs::hard_link(at("state/sessions.db-wal"), at("hard")).unwrap();
        for own in [
            "state/sessions.db",
            "state/../state/sessions.db",
            "state/sessions.db-wal",
            "link.db",
            "link of link.db",
            "folder/sessions.db",
            "hard",
            // They are not there.
            "state/sessions.db-shm",
            "folder/sessions.db-shm",
            "folder/sessions.db-journal",
        ] {
            assert!(refuse_own(&database, &at(own)).is_err(), "{own}");
        }
        for other in [
            "notes.txt",
            "sessions.db",
            "new.db",
            "state/backup.db",
            "state/sessions.db-2",
        ] {
            assert!(refuse_own(&database, &at(other)).is_ok(), "{other}");
        }
    }
}
