use std::ffi::OsStr;

use everruns_core::file_system::{ContentVersion, FileKind, FileSystemError, Precondition};
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, RenameFlags, renameat, renameat_with};
use rustix::io::Errno;

use super::errors::{at, not_put_back, step};
use super::existing::{Existing, version_at};
use super::kind::{Identity, is_unchanged};
use super::temporary::Temporary;

/// The last step of a write: a finished temporary file takes the place of its target.
///
/// Whatever is at the temporary name afterwards is of no use any more.
#[derive(Debug)]
pub(super) struct Commit<'a> {
    pub(super) path: &'a WorkspacePath,
    pub(super) folder: &'a OwnedFd,
    pub(super) name: &'a OsStr,
    pub(super) temporary: &'a Temporary<'a>,
    /// The temporary file, open.
    pub(super) file: &'a OwnedFd,
    pub(super) existing: Option<&'a Existing>,
    /// The largest file that is read, in bytes.
    pub(super) limit: u64,
}

impl Commit<'_> {
    /// Puts the file in place if `precondition` still holds. Programs that do not know our lock are outside of
    /// it, so the kernel decides where it can.
    pub(super) fn run(&self, precondition: Precondition) -> Result<(), FileSystemError> {
        match precondition {
            Precondition::Any => self.replace(),
            Precondition::Absent => self.create(),
            Precondition::Matches(version) => self.exchange(version),
        }
    }

    fn replace(&self) -> Result<(), FileSystemError> {
        match renameat(self.folder, self.temporary.name(), self.folder, self.name) {
            Err(Errno::ISDIR) => Err(FileSystemError::NotAFile {
                path: self.path.clone(),
                kind: FileKind::Directory,
            }),
            other => other.map_err(at(self.path, "replace")),
        }
    }

    fn create(&self) -> Result<(), FileSystemError> {
        let (folder, temporary, name) = (self.folder, self.temporary.name(), self.name);
        let done = match renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
            // A second name is as safe where the file system cannot refuse to replace; the first goes with the
            // temporary file.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(folder, temporary, folder, name, AtFlags::empty())
            }
            other => other,
        };
        match done {
            Err(Errno::EXIST) => Err(self.conflict(Precondition::Absent)?),
            other => other.map_err(at(self.path, "create")),
        }
    }

    fn exchange(&self, expected: ContentVersion) -> Result<(), FileSystemError> {
        let precondition = Precondition::Matches(expected);
        // Most changes from outside are seen here, before a reader could see ours.
        let now = rustix::fs::statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW);
        let is_as_read = match (&now, self.existing) {
            (Ok(now), Some(existing)) => is_unchanged(&existing.stat, now),
            _ => false,
        };
        if !is_as_read && self.version_at(self.name)? != Some(expected) {
            return Err(self.conflict(precondition)?);
        }
        step("fs.write.before-exchange", self.path)?;
        match self.swap() {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return self.replace(),
            Err(Errno::NOENT) => return Err(self.conflict(precondition)?),
            Err(errno) => return Err(at(self.path, "replace")(errno)),
        }
        let displaced = step("fs.write.after-exchange", self.path)
            .and_then(|()| self.version_at(OsStr::new(self.temporary.name())));
        if let Ok(displaced) = displaced
            && displaced == Some(expected)
        {
            return Ok(());
        }
        // What cannot be looked at is not replaced either.
        if let Err(error) = self.undo() {
            let kept = self.temporary.keep(Some(self.file));
            return Err(not_put_back(self.path, kept, error));
        }
        displaced?;
        Err(self.conflict(precondition)?)
    }

    fn swap(&self) -> Result<(), Errno> {
        let (folder, temporary, name) = (self.folder, self.temporary.name(), self.name);
        renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE)
    }

    /// Puts back what an exchange displaced.
    fn undo(&self) -> Result<(), FileSystemError> {
        step("fs.write.before-undo", self.path)?;
        let failed = at(self.path, "put back the newer content of");
        match self.swap() {
            Ok(()) => {}
            // Removed from outside meanwhile: what was displaced comes back, unless something new is there.
            Err(Errno::NOENT) => {
                let (folder, temporary, name) = (self.folder, self.temporary.name(), self.name);
                return match renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE)
                {
                    Ok(()) | Err(Errno::EXIST) => Ok(()),
                    Err(errno) => Err(failed(errno)),
                };
            }
            Err(errno) => return Err(failed(errno)),
        }
        let ours = rustix::fs::fstat(self.file).map_err(&failed)?;
        let taken_back = rustix::fs::statat(
            self.folder,
            self.temporary.name(),
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .map_err(&failed)?;
        if Identity::of(&ours) != Identity::of(&taken_back) {
            // Replaced from outside once more: that is the newest content, and what we put back was replaced
            // by it.
            self.swap().map_err(&failed)?;
        }
        Ok(())
    }

    fn version_at(&self, name: &OsStr) -> Result<Option<ContentVersion>, FileSystemError> {
        version_at(self.folder, name, self.path, self.limit)
    }

    fn conflict(&self, expected: Precondition) -> Result<FileSystemError, FileSystemError> {
        Ok(FileSystemError::Conflict {
            path: self.path.clone(),
            expected,
            current: self.version_at(self.name)?,
        })
    }
}
