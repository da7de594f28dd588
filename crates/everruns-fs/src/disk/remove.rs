use std::ffi::OsStr;

use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, LastLink, Precondition, Removal,
};
use everruns_core::path::WorkspacePath;
use rustix::fs::{AtFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::call::Call;
use super::errors::{at, late_step, not_flushed, not_put_back, step};
use super::existing::{Found, version_at};
use super::kind::kind;
use super::lock::Lock;
use super::remove_folder::remove_folder;
use super::resolve::{Missing, Place, listed};
use super::stat::stat_place;
use super::temporary::Temporary;
use super::tree::{Tree, again_while_changing};

impl Tree {
    pub(super) fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
        call: &Call,
    ) -> Result<(), FileSystemError> {
        self.enter_existing(path)?;
        if path.is_top() {
            return Err(FileSystemError::InvalidOperation {
                path: path.clone(),
                reason: "the top folder cannot be removed",
            });
        }
        again_while_changing(path, || self.try_remove(path, removal, precondition, call))
    }

    fn try_remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
        call: &Call,
    ) -> Result<Option<()>, FileSystemError> {
        let place = self.place(path, LastLink::Keep, Missing::Fail)?;
        let lock = self.lock(path, &place.key(), call)?;
        let kind = kind(&stat_place(&place, path)?);
        let flushed = listed(&place.folder).map_err(at(path, "open the folder of"))?;
        if precondition != Precondition::Any {
            if kind != FileKind::File {
                return Err(FileSystemError::NotAFile {
                    path: path.clone(),
                    kind,
                });
            }
            match Found::at(&place, path, precondition, self.max_file_bytes)? {
                Found::File(existing) => precondition.check(path, existing.version)?,
                Found::Nothing | Found::Other(_) | Found::Changed => return Ok(None),
            }
        }
        step("fs.remove.after-check", path)?;
        let name = place.name(path)?;
        let removed = match (kind, removal) {
            (FileKind::Directory, Removal::Entry) => {
                rustix::fs::unlinkat(&place.folder, name, AtFlags::REMOVEDIR)
                    .map_err(at(path, "remove the folder"))
            }
            (FileKind::Directory, Removal::Recursive) => remove_folder(&place, path),
            _ if let Precondition::Matches(expected) = precondition => {
                match take_away(&place, &lock, path, expected, self.max_file_bytes)? {
                    Some(()) => Ok(()),
                    None => return Ok(None),
                }
            }
            _ => match rustix::fs::unlinkat(&place.folder, name, AtFlags::empty()) {
                // It became a folder meanwhile.
                Err(Errno::ISDIR) => return Ok(None),
                other => other.map_err(at(path, "remove")),
            },
        };
        removed?;
        late_step("fs.remove.after-unlink", path)?;
        rustix::fs::fsync(&flushed).map_err(not_flushed(path))?;
        drop(lock);
        Ok(Some(()))
    }
}

/// Removes a file of which the bytes were just seen to be of version `expected`.
///
/// It is moved aside and looked at once more before it is gone, so that what a program outside saved in
/// between is not lost.
fn take_away(
    place: &Place,
    lock: &Lock<'_>,
    path: &WorkspacePath,
    expected: ContentVersion,
    limit: u64,
) -> Result<Option<()>, FileSystemError> {
    let (folder, name) = (&place.folder, place.name(path)?);
    let aside = Temporary::reserve(place, lock, path)?;
    step("fs.remove.before-move", path)?;
    match renameat_with(folder, name, folder, aside.name(), RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            return rustix::fs::unlinkat(folder, name, AtFlags::empty())
                .map(Some)
                .map_err(at(path, "remove"));
        }
        Err(errno) => return Err(at(path, "remove")(errno)),
    }
    let seen = step("fs.remove.after-move", path)
        .and_then(|()| version_at(folder, OsStr::new(aside.name()), path, limit));
    if let Ok(seen) = seen
        && seen == Some(expected)
    {
        return Ok(Some(()));
    }
    // What cannot be looked at is not removed either.
    let put_back = step("fs.remove.before-undo", path).and_then(|()| {
        match renameat_with(folder, aside.name(), folder, name, RenameFlags::NOREPLACE) {
            // Something newer is there already.
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(at(path, "put back the newer content of")(errno)),
        }
    });
    put_back.map_err(|error| not_put_back(path, aside.keep(None), error))?;
    seen?;
    Err(FileSystemError::Conflict {
        path: path.clone(),
        expected: Precondition::Matches(expected),
        current: version_at(folder, name, path, limit)?,
    })
}
