//! Heads, their folders and their records in the repository, where one is without the other.

use std::fs;
use std::path::Path;

use super::context::{Examination, shown};
use super::locks;
use super::state::list;
use crate::error::Result;
use crate::state::{HeadRecord, HeadState, Lock, WorkspaceRecord, is_head_id};
use crate::worktree::{Worktree, delete};

/// Folders of no head.
pub(super) fn folders(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    for path in list(&examination.layout().worktrees(&workspace.id))? {
        let Some(id) = head_id(&path) else {
            let detail = "it is not of this backend, and is left alone";
            examination.tell("stranger", shown(&path), detail);
            continue;
        };
        if !examination.is_unaccounted(&workspace.id, id)? {
            continue;
        }
        if holds_nothing(&path)? {
            examination.offer(
                "folder-without-head",
                shown(&path),
                "no head has this folder, and there are no files in it",
                || delete(&path),
            );
        } else {
            examination.tell(
                "folder-without-head",
                shown(&path),
                "no head has this folder; look through its files, then delete it",
            );
        }
    }
    Ok(())
}

/// Worktree records of no head, which name a folder of this state.
pub(super) fn records(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    for path in list(&workspace.common_dir.join("worktrees"))? {
        let Some(id) = head_id(&path) else { continue };
        let folder = examination.layout().worktree(&workspace.id, id);
        let worktree = Worktree::new(&workspace.common_dir, id, folder);
        // Another state folder, or the user, may have worktrees of this repository too.
        if !worktree.is_registered()? || !examination.is_unaccounted(&workspace.id, id)? {
            continue;
        }
        if fs::symlink_metadata(&worktree.folder).is_ok() {
            examination.tell(
                "record-without-head",
                shown(&path),
                format!(
                    "no head has this worktree, but its folder is there: {}",
                    worktree.folder.display()
                ),
            );
        } else {
            let lock = examination.layout().repository_lock(&workspace.id);
            examination.offer(
                "record-without-head",
                shown(&path),
                "the repository lists a worktree, and keeps it locked, whose folder and head are no more",
                || {
                    let _shared = Lock::acquire(&lock, &workspace.id)?;
                    worktree.unregister()
                },
            );
        }
    }
    Ok(())
}

/// Heads whose folder or record is gone, or whose index is locked.
pub(super) fn heads(examination: &mut Examination<'_>, workspace: &WorkspaceRecord) -> Result<()> {
    let layout = examination.layout();
    for record in HeadRecord::all(layout, &workspace.id)? {
        if record.state == HeadState::Destroyed {
            continue;
        }
        // An operation under way accounts for what it is in the middle of.
        let Some(_lock) = Lock::try_acquire(&layout.head_lock(&record.id))? else {
            continue;
        };
        let folder = layout.worktree(&workspace.id, &record.id);
        let worktree = Worktree::new(&workspace.common_dir, &record.id, folder);
        if fs::symlink_metadata(&worktree.folder).is_err() {
            examination.tell(
                "head-without-folder",
                &record.id,
                format!(
                    "the folder of the head {:?} is gone; its branch {} and its checkpoints are there, and destroying \
                     the head ends it",
                    record.name, record.branch
                ),
            );
        } else if fs::symlink_metadata(&worktree.record).is_err() {
            examination.tell(
                "head-without-record",
                &record.id,
                format!(
                    "the repository has no record of the worktree of the head {:?} any more; its files are in {}",
                    record.name,
                    worktree.folder.display()
                ),
            );
        }
        locks::index(examination, &worktree.record)?;
    }
    Ok(())
}

/// The head that `path` is named after.
fn head_id(path: &Path) -> Option<&str> {
    path.file_name()
        .and_then(|name| name.to_str())
        .filter(|name| is_head_id(name))
}

/// Whether there is nothing in `folder` but, perhaps, the file that made it a worktree.
fn holds_nothing(folder: &Path) -> Result<bool> {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return Ok(false);
    }
    let is_link = |path: &Path| {
        path.ends_with(".git") && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
    };
    Ok(list(folder)?.iter().all(|path| is_link(path)))
}
