use everruns_core::file_system::{FileKind, FileSystemError, LastLink, Replace};
use everruns_core::path::WorkspacePath;
use rustix::fs::{RenameFlags, renameat, renameat_with};
use rustix::io::Errno;

use super::call::Call;
use super::errors::{at, late_step, not_flushed};
use super::kind::kind;
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
        let target = self.place(to, LastLink::Keep, Missing::Create)?;
        let (_first, _second) = self.lock_both(to, [&source.key(), &target.key()], call)?;
        // Opened now, so that a folder that cannot be flushed is found out before anything changes.
        let open = |place: &Place| listed(&place.folder).map_err(at(to, "open the folder of"));
        let flushed = [open(&source)?, open(&target)?];
        let replace = may_replace(&target, to, source_kind, replace)?;
        let is_same = source.resolved == target.resolved;
        if is_same && replace == Replace::File {
            return Ok(());
        }
        move_entry(&source, &target, from, to, replace)?;
        late_step("fs.rename.after-rename", to)?;
        for folder in flushed {
            rustix::fs::fsync(&folder).map_err(not_flushed(to))?;
        }
        Ok(())
    }
}

/// A folder never replaces anything and is never replaced.
fn may_replace(
    target: &Place,
    to: &WorkspacePath,
    source_kind: FileKind,
    replace: Replace,
) -> Result<Replace, FileSystemError> {
    let target_kind = match stat_place(target, to) {
        Ok(stat) => kind(&stat),
        Err(FileSystemError::NotFound { .. }) => return Ok(Replace::Never),
        Err(error) => return Err(error),
    };
    match (replace, target_kind) {
        (Replace::File, FileKind::File | FileKind::Symlink)
            if source_kind != FileKind::Directory =>
        {
            Ok(Replace::File)
        }
        (Replace::File, kind @ (FileKind::Directory | FileKind::Special))
            if source_kind != FileKind::Directory =>
        {
            Err(FileSystemError::NotAFile {
                path: to.clone(),
                kind,
            })
        }
        _ => Err(FileSystemError::AlreadyExists { path: to.clone() }),
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
        Replace::File => renameat(old_folder, old, new_folder, new),
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
