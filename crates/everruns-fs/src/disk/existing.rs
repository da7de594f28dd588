use std::ffi::OsStr;

use everruns_core::file_system::{
    ContentVersion, FileKind, FileMode, FileSystemError, Precondition,
};
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{Access, AtFlags, Gid, Mode, Stat, Uid};
use rustix::io::Errno;

use super::errors::at;
use super::flags::READ;
use super::kind::kind;
use super::read::read_whole;
use super::resolve::Place;

/// What is at a place that is about to change.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    File(Existing),
    Other(FileKind),
    /// It changed while it was looked at, or it is a link where a link was followed already.
    Changed,
}

/// The file that is there before a change.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) stat: Stat,
    /// Known only where a precondition asks for it.
    pub(super) version: Option<ContentVersion>,
}

impl Found {
    /// Looks at `place`, and at the bytes of a file there, at most `limit`, when `precondition` asks for their
    /// version.
    pub(super) fn at(
        place: &Place,
        path: &WorkspacePath,
        precondition: Precondition,
        limit: u64,
    ) -> Result<Self, FileSystemError> {
        let name = place.name(path)?;
        let stat = match rustix::fs::statat(&place.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Self::Nothing),
            Err(errno) => return Err(at(path, "look at")(errno)),
        };
        match kind(&stat) {
            FileKind::File => {}
            FileKind::Symlink => return Ok(Self::Changed),
            other => return Ok(Self::Other(other)),
        }
        if precondition == Precondition::Any {
            return Ok(Self::File(Existing {
                stat,
                version: None,
            }));
        }
        let file = match rustix::fs::openat(&place.folder, name, READ, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(Self::Changed),
            Err(errno) => return Err(at(path, "open")(errno)),
        };
        let (bytes, stat) = read_whole(&file, path, limit)?;
        Ok(Self::File(Existing {
            stat,
            version: Some(ContentVersion::of(&bytes)),
        }))
    }
}

impl Existing {
    /// Gives `file` the mode of this one, and its owner where we may.
    pub(super) fn give_permissions(&self, file: &OwnedFd) -> Result<(), Errno> {
        let new = rustix::fs::fstat(file)?;
        if (new.st_uid, new.st_gid) != (self.stat.st_uid, self.stat.st_gid) {
            let owner = Uid::from_raw(self.stat.st_uid);
            let group = Gid::from_raw(self.stat.st_gid);
            match rustix::fs::fchown(file, Some(owner), Some(group)) {
                Ok(()) | Err(Errno::PERM) => {}
                Err(errno) => return Err(errno),
            }
        }
        rustix::fs::fchmod(file, Mode::from_raw_mode(self.stat.st_mode & 0o777))
    }
}

/// Makes `file` executable for whoever may read it, or for nobody.
pub(super) fn set_mode(file: &OwnedFd, mode: FileMode) -> Result<(), Errno> {
    let executable = match mode {
        FileMode::Kept => return Ok(()),
        FileMode::Plain => false,
        FileMode::Executable => true,
        FileMode::Exact(permissions) => {
            return rustix::fs::fchmod(file, Mode::from_raw_mode(permissions.bits().into()));
        }
    };
    let now = rustix::fs::fstat(file)?.st_mode & 0o777;
    let plain = now & !0o111;
    let wanted = if executable {
        plain | (plain & 0o444) >> 2
    } else {
        plain
    };
    if wanted == now {
        return Ok(());
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(wanted))
}

/// The version of the file `name` itself; `None` when it is no file, or one that is larger than `limit`.
pub(super) fn version_at(
    folder: &OwnedFd,
    name: &OsStr,
    path: &WorkspacePath,
    limit: u64,
) -> Result<Option<ContentVersion>, FileSystemError> {
    let file = match rustix::fs::openat(folder, name, READ, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(at(path, "open")(errno)),
    };
    match read_whole(&file, path, limit) {
        Ok((bytes, _)) => Ok(Some(ContentVersion::of(&bytes))),
        Err(FileSystemError::NotAFile { .. } | FileSystemError::TooLarge { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A rename would replace a file that may only be read, so its permissions are asked.
pub(super) fn must_be_writable(place: &Place, path: &WorkspacePath) -> Result<(), FileSystemError> {
    let name = place.name(path)?;
    match rustix::fs::accessat(&place.folder, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
            Err(FileSystemError::ReadOnly { path: path.clone() })
        }
        // Whatever else is wrong shows when the file is replaced.
        _ => Ok(()),
    }
}
