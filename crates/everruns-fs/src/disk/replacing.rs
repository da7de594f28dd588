use everruns_core::file_system::{ContentVersion, FileSystemError, Precondition};
use everruns_core::path::WorkspacePath;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, linkat, renameat, renameat_with, statat};
use rustix::io::Errno;

use super::commit::Commit;
use super::errors::{at, not_put_back, step};
use super::existing::{Existing, Found, version_at};
use super::intent;
use super::kind::Identity;
use super::lock::Lock;
use super::resolve::Place;
use super::temporary::Temporary;

/// A move onto a file that is there, under the locks of both.
#[derive(Debug)]
pub(super) struct Replacing<'a> {
    pub(super) source: &'a Place,
    pub(super) target: &'a Place,
    pub(super) from: &'a WorkspacePath,
    pub(super) to: &'a WorkspacePath,
    pub(super) lock: &'a Lock<'a>,
    /// The largest file that is read, in bytes.
    pub(super) limit: u64,
}

impl Replacing<'_> {
    /// Makes sure that the target's bytes are of version `expected`.
    pub(super) fn check(&self, expected: ContentVersion) -> Result<Existing, FileSystemError> {
        let precondition = Precondition::Matches(expected);
        match Found::at(self.target, self.to, precondition, self.limit)? {
            Found::File(existing) => {
                precondition.check(self.to, existing.version)?;
                Ok(existing)
            }
            _ => Err(FileSystemError::Conflict {
                path: self.to.clone(),
                expected: precondition,
                current: self.current()?,
            }),
        }
    }

    /// Puts the source in the place of the target, if that is still of version `expected`.
    ///
    /// The source gets a second name beside the target and is then put in place as a write puts its temporary file
    /// there, so that what a program outside saves in between is seen. Its first name goes last: whoever looks sees the
    /// old target or the new one, and whoever is killed leaves a note with which the move is finished.
    pub(super) fn exchange(
        &self,
        expected: ContentVersion,
        existing: &Existing,
    ) -> Result<(), FileSystemError> {
        let (old, new) = (self.source.name(self.from)?, self.target.name(self.to)?);
        let (old_folder, new_folder) = (&self.source.folder, &self.target.folder);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let source = rustix::fs::openat(old_folder, old, flags, Mode::empty())
            .map_err(at(self.from, "open"))?;
        let second = Temporary::reserve(self.target, self.lock, self.to)?;
        match linkat(old_folder, old, new_folder, second.name(), AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::NOENT) => {
                return Err(FileSystemError::NotFound {
                    path: self.from.clone(),
                });
            }
            // No second name can be had, as on a disk without hard links, or of a stranger's file. The target was
            // looked at under the lock.
            Err(_) => {
                return renameat(old_folder, old, new_folder, new).map_err(at(self.to, "move to"));
            }
        }
        let moving = statat(new_folder, second.name(), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(at(self.from, "look at"))?;
        intent::note_move(
            self.lock,
            [self.target, self.source],
            second.name(),
            moving.st_ino,
        )
        .map_err(at(self.to, "note the move to"))?;
        step("fs.rename.after-note", self.to)?;
        let commit = Commit {
            path: self.to,
            folder: new_folder,
            name: new,
            temporary: &second,
            file: &source,
            existing: Some(existing),
            limit: self.limit,
        };
        commit.run(Precondition::Matches(expected))?;
        let removed = step("fs.rename.after-exchange", self.to)
            .and_then(|()| self.remove_source(&second, Identity::of(&moving)));
        let Err(error) = removed else { return Ok(()) };
        if error.is_of_a_made_change() {
            return Err(error);
        }
        match renameat_with(
            new_folder,
            second.name(),
            new_folder,
            new,
            RenameFlags::EXCHANGE,
        ) {
            Ok(()) => Err(error),
            Err(_) => Err(FileSystemError::PartialMove {
                from: self.from.clone(),
                to: self.to.clone(),
                source: Box::new(error),
            }),
        }
    }

    /// For two names of one file, which the system's own move leaves both: removes the first.
    pub(super) fn join_names(&self, file: Identity) -> Result<(), FileSystemError> {
        let new = self.target.name(self.to)?;
        let aside = Temporary::reserve(self.target, self.lock, self.to)?;
        self.remove_source(&aside, file)?;
        let folder = &self.target.folder;
        // Both were one entry after all, under two spellings.
        match renameat_with(folder, aside.name(), folder, new, RenameFlags::NOREPLACE) {
            Ok(())
            | Err(Errno::EXIST | Errno::NOENT | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                Ok(())
            }
            Err(errno) => Err(not_put_back(
                self.to,
                aside.keep(None),
                at(self.to, "move to")(errno),
            )),
        }
    }

    /// Moves the source's name over `aside`, which is of no use any more. What a program outside has put under that name
    /// meanwhile is another file than `moving`, and is put back.
    fn remove_source(
        &self,
        aside: &Temporary<'_>,
        moving: Identity,
    ) -> Result<(), FileSystemError> {
        let old = self.source.name(self.from)?;
        let (old_folder, new_folder) = (&self.source.folder, &self.target.folder);
        match renameat(old_folder, old, new_folder, aside.name()) {
            Ok(()) => {}
            // Gone already.
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(at(self.from, "remove")(errno)),
        }
        let taken = statat(new_folder, aside.name(), AtFlags::SYMLINK_NOFOLLOW);
        if taken.is_ok_and(|taken| Identity::of(&taken) == moving) {
            return Ok(());
        }
        match renameat_with(
            new_folder,
            aside.name(),
            old_folder,
            old,
            RenameFlags::NOREPLACE,
        ) {
            // Something newer is there already.
            Ok(()) | Err(Errno::EXIST | Errno::NOENT) => Ok(()),
            Err(errno) => {
                let error = at(self.from, "put back the newer content of")(errno);
                Err(not_put_back(self.from, aside.keep(None), error))
            }
        }
    }

    fn current(&self) -> Result<Option<ContentVersion>, FileSystemError> {
        let name = self.target.name(self.to)?;
        version_at(&self.target.folder, name, self.to, self.limit)
    }
}
