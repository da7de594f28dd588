use everruns_core::file_system::{FileKind, FileSystemError, LastLink, Replace};
use everruns_core::path::WorkspacePath;
use rustix::fs::{RenameFlags, Stat, renameat, renameat_with};
use rustix::io::Errno;

use super::call::Call;
use super::errors::{at, late_step, not_flushed, step};
use super::kind::{Identity, kind};
use super::replacing::Replacing;
use super::resolve::{Missing, Place, listed};
use super::stat::stat_place;
use super::tree::Tree;

impl Tree {
    pub(super) fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
        call: &Call,
    ) -> Result<(), FileSystemError> {
        self.enter_existing(from)?;
        self.enter_new(to)?;
        if from.is_top() {
            return Err(invalid(from, "the top folder cannot be moved"));
        }
        if to.is_top() {
            return Err(FileSystemError::AlreadyExists { path: to.clone() });
        }
        let source = self.place(from, LastLink::Keep, Missing::Fail)?;
        let source_kind = kind(&stat_place(&source, from)?);
        if from != to && to.starts_with(from) && source_kind == FileKind::Directory {
            return Err(invalid(to, "a folder cannot be moved into itself"));
        }
        let target = self.place_of_target(to, replace)?;
        let (lock, _second) = self.lock_both(to, [&source.key(), &target.key()], call)?;
        // Opened now, so that a folder that cannot be flushed is found out before anything changes.
        let open = |place: &Place| listed(&place.folder).map_err(at(to, "open the folder of"));
        let flushed = [open(&source)?, open(&target)?];
        let there = may_replace(&target, to, source_kind, replace)?;
        let replacing = Replacing {
            source: &source,
            target: &target,
            from,
            to,
            lock: &lock,
            limit: self.max_file_bytes,
        };
        match (there, replace) {
            (None, Replace::Matches(_)) => replace.precondition().check(to, None)?,
            (None, _) => move_entry(&source, &target, from, to, Replace::Never)?,
            (Some(there), _) => {
                let found = match replace {
                    Replace::Matches(version) => Some((version, replacing.check(version)?)),
                    _ => None,
                };
                step("fs.rename.after-check", to)?;
                if source.resolved == target.resolved {
                    return Ok(());
                }
                let moving = stat_place(&source, from)?;
                let is_one_file = Identity::of(&moving) == Identity::of(&there);
                // A single name is one entry under two spellings, which a plain move spells anew.
                if is_one_file
                    && moving.st_nlink > 1
                    && source.stored_path() != target.stored_path()
                {
                    replacing.join_names(Identity::of(&moving))?;
                } else if let Some((version, existing)) = found
                    && !is_one_file
                {
                    replacing.exchange(version, &existing)?;
                } else {
                    move_entry(&source, &target, from, to, replace)?;
                }
            }
        }
        late_step("fs.rename.after-rename", to)?;
        for folder in flushed {
            rustix::fs::fsync(&folder).map_err(not_flushed(to))?;
        }
        Ok(())
    }

    /// The place to move to, missing folders made unless nothing can be there as expected.
    pub(super) fn place_of_target(
        &self,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<Place, FileSystemError> {
        let missing = match replace {
            Replace::Matches(_) => Missing::Fail,
            Replace::Never | Replace::File => Missing::Create,
        };
        self.place(to, LastLink::Keep, missing).map_err(|error| {
            match (error, replace.precondition().check(to, None)) {
                (FileSystemError::NotFound { .. }, Err(conflict)) => conflict,
                (error, _) => error,
            }
        })
    }
}

/// What is at the target and may be replaced. A folder never replaces anything and is never replaced.
pub(super) fn may_replace(
    target: &Place,
    to: &WorkspacePath,
    source_kind: FileKind,
    replace: Replace,
) -> Result<Option<Stat>, FileSystemError> {
    let there = match stat_place(target, to) {
        Ok(stat) => stat,
        Err(FileSystemError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if replace == Replace::Never || source_kind == FileKind::Directory {
        return Err(FileSystemError::AlreadyExists { path: to.clone() });
    }
    match (replace, kind(&there)) {
        (_, FileKind::File) | (Replace::File, FileKind::Symlink) => Ok(Some(there)),
        (_, kind) => Err(FileSystemError::NotAFile {
            path: to.clone(),
            kind,
        }),
    }
}

fn move_entry(
    source: &Place,
    target: &Place,
    from: &WorkspacePath,
    to: &WorkspacePath,
    replace: Replace,
) -> Result<(), FileSystemError> {
    let (old, new) = (source.name(from)?, target.name(to)?);
    let (old_folder, new_folder) = (&source.folder, &target.folder);
    let moved = match replace {
        Replace::File | Replace::Matches(_) => renameat(old_folder, old, new_folder, new),
        Replace::Never => {
            match renameat_with(old_folder, old, new_folder, new, RenameFlags::NOREPLACE) {
                // Either the file system knows no such flag, or a folder would move into itself. The caller has
                // just seen that nothing is there, and the lock keeps other writers of ours away.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    renameat(old_folder, old, new_folder, new)
                }
                other => other,
            }
        }
    };
    match moved {
        Err(Errno::INVAL) => Err(invalid(to, "a folder cannot be moved into itself")),
        Err(Errno::NOENT) => Err(FileSystemError::NotFound { path: from.clone() }),
        Err(Errno::ISDIR) => Err(FileSystemError::NotAFile {
            path: to.clone(),
            kind: FileKind::Directory,
        }),
        other => other.map_err(at(to, "move to")),
    }
}

fn invalid(path: &WorkspacePath, reason: &'static str) -> FileSystemError {
    FileSystemError::InvalidOperation {
        path: path.clone(),
        reason,
    }
}
