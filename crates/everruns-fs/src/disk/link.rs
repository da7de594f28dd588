use everruns_core::file_system::{FileKind, FileSystemError, LastLink, LinkTarget, Replace};
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, symlinkat};
use rustix::io::Errno;

use super::call::Call;
use super::commit::Commit;
use super::errors::{at, late_step, not_flushed, step};
use super::existing::{Existing, Found};
use super::names::is_git_name;
use super::rename::may_replace;
use super::resolve::{Missing, Place, listed};
use super::temporary::Temporary;
use super::tree::{Tree, again_while_changing};

impl Tree {
    pub(super) fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        self.enter_existing(path)?;
        let place = self.place(path, LastLink::Keep, Missing::Fail)?;
        let no_link = || FileSystemError::InvalidOperation {
            path: path.clone(),
            reason: "it is no symbolic link",
        };
        let name = place.name.as_deref().ok_or_else(no_link)?;
        match rustix::fs::readlinkat(&place.folder, name, Vec::new()) {
            // The kernel keeps no text that is none.
            Ok(target) => LinkTarget::new(target.into_bytes()).map_err(|_| no_link()),
            Err(Errno::INVAL) => Err(no_link()),
            Err(errno) => Err(at(path, "read the link")(errno)),
        }
    }

    /// Makes a link under a temporary name and puts it in place as a write does its file.
    pub(super) fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
        call: &Call,
    ) -> Result<(), FileSystemError> {
        self.enter_new(path)?;
        if path.is_top() {
            return Err(FileSystemError::AlreadyExists { path: path.clone() });
        }
        // Before any folder is made.
        let seen = self.place(path, LastLink::Keep, Missing::Keep)?;
        must_stay_inside(&seen, target, path)?;
        again_while_changing(path, || self.try_create_link(path, target, replace, call))
    }

    fn try_create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
        call: &Call,
    ) -> Result<Option<()>, FileSystemError> {
        let place = self.place_of_target(path, replace)?;
        must_stay_inside(&place, target, path)?;
        let name = place.name(path)?;
        step("fs.link.before-lock", path)?;
        let lock = self.lock(path, &place.key(), call)?;
        let existing = match self.replaced_by_link(&place, path, replace)? {
            Replaced::Nothing => None,
            Replaced::Entry(existing) => existing,
            Replaced::Changed => return Ok(None),
        };
        step("fs.link.after-check", path)?;
        // Opened now, so that a folder that cannot be flushed is found out before anything changes.
        let flushed = match listed(&place.folder) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(at(path, "open the folder of")(errno)),
        };
        let temporary = Temporary::reserve(&place, &lock, path)?;
        step("fs.link.after-note", path)?;
        let link = match make_link(&place, &temporary, target) {
            Ok(link) => link,
            Err(Errno::NOENT) => return Ok(None),
            // As a disk without links answers.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
                return Err(FileSystemError::Unsupported {
                    path: path.clone(),
                    what: "symbolic links",
                });
            }
            Err(errno) => return Err(at(path, "make the link")(errno)),
        };
        step("fs.link.after-temp", path)?;
        let commit = Commit {
            path,
            folder: &place.folder,
            name,
            temporary: &temporary,
            file: &link,
            existing: existing.as_ref(),
            limit: self.max_file_bytes,
        };
        match (commit.run(replace.precondition()), replace) {
            (Err(FileSystemError::Conflict { path, .. }), Replace::Never) => {
                return Err(FileSystemError::AlreadyExists { path });
            }
            (done, _) => done?,
        }
        late_step("fs.link.after-rename", path)?;
        rustix::fs::fsync(&flushed).map_err(not_flushed(path))?;
        late_step("fs.link.after-folder-flush", path)?;
        Ok(Some(()))
    }

    /// What a link is about to replace, as far as `replace` allows.
    fn replaced_by_link(
        &self,
        place: &Place,
        path: &WorkspacePath,
        replace: Replace,
    ) -> Result<Replaced, FileSystemError> {
        let precondition = replace.precondition();
        if may_replace(place, path, FileKind::Symlink, replace)?.is_none() {
            if replace != Replace::File {
                precondition.check(path, None)?;
            }
            return Ok(Replaced::Nothing);
        }
        if replace == Replace::File {
            return Ok(Replaced::Entry(None));
        }
        match Found::at(place, path, precondition, self.max_file_bytes)? {
            Found::File(existing) => {
                precondition.check(path, existing.version)?;
                Ok(Replaced::Entry(Some(existing)))
            }
            Found::Nothing | Found::Other(_) | Found::Changed => Ok(Replaced::Changed),
        }
    }
}

/// What was found where a link is to be.
enum Replaced {
    Nothing,
    /// Something that may be replaced; a file of a known version, if one is asked for.
    Entry(Option<Existing>),
    /// It became something else while it was looked at.
    Changed,
}

/// Refuses a text that leaves the tree from the folder in which the link really lies, which links on the way decide.
fn must_stay_inside(
    place: &Place,
    target: &LinkTarget,
    path: &WorkspacePath,
) -> Result<(), FileSystemError> {
    let escapes = || FileSystemError::Escapes { path: path.clone() };
    if target.as_bytes().starts_with(b"/") {
        return Err(escapes());
    }
    let mut depth = place.resolved.len().saturating_sub(1);
    for part in target.as_bytes().split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => depth = depth.checked_sub(1).ok_or_else(escapes)?,
            name if is_git_name(name) => {
                return Err(FileSystemError::GitInternal { path: path.clone() });
            }
            _ => depth += 1,
        }
    }
    Ok(())
}

/// Makes the link under its temporary name, and gives it open, so that it is known again.
fn make_link(
    place: &Place,
    temporary: &Temporary<'_>,
    target: &LinkTarget,
) -> Result<OwnedFd, Errno> {
    symlinkat(target.as_bytes(), &place.folder, temporary.name())?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&place.folder, temporary.name(), flags, Mode::empty())
}
