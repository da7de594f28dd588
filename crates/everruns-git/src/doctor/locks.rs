//! Locks that killed processes left, of indexes and of worktree records.

use std::path::{Path, PathBuf};

use super::context::{Examination, shown};
use super::state::list;
use crate::error::Result;
use crate::index::{IndexLock, Leftover};
use crate::state::{WorkspaceRecord, durable, is_head_id};
use crate::worktree::LOCK_REASON;

/// Locks of indexes of the user's own worktrees: the repository's own one, and those that are no heads.
pub(super) fn user_indexes(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    let common = &workspace.common_dir;
    let mut git_dirs = vec![common.clone()];
    for record in list(&common.join("worktrees"))? {
        let is_head = name_of(&record).is_some_and(is_head_id);
        if !is_head || examination.is_unknown(&workspace.id, &record)? {
            git_dirs.push(record);
        }
    }
    for git_dir in git_dirs {
        index(examination, &git_dir)?;
    }
    Ok(())
}

/// The lock of the index in `git_dir`, and what processes left that were about to take it.
///
/// Of an index of one of our heads, the caller holds the head's lock, so that no process of ours is writing it.
pub(super) fn index(examination: &mut Examination<'_>, git_dir: &Path) -> Result<()> {
    let index = git_dir.join("index");
    let lock = IndexLock::beside(&index);
    match IndexLock::inspect(&index)? {
        Leftover::None => {}
        Leftover::Dead => examination.offer(
            "stale-index-lock",
            shown(&lock),
            "the process that took this lock is no more",
            || IndexLock::remove_dead(&index),
        ),
        Leftover::Held => examination.tell(
            "index-lock",
            shown(&lock),
            "another program holds the index, or was killed while it did; if none is running, delete this file",
        ),
    }
    for announcement in IndexLock::dead_announcements(&index)? {
        examination.offer(
            "stale-index-lock",
            shown(&announcement),
            "the process that was about to take the lock of the index is no more",
            || durable::remove(&announcement),
        );
    }
    Ok(())
}

/// Worktree records that are locked for a head of another state, whose folder is not there.
///
/// That of a head of this state is a finding of its own. Whether another state is gone for good, or on a disk that is not
/// mounted, can't be proved.
pub(super) fn worktrees(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    for record in list(&workspace.common_dir.join("worktrees"))? {
        let locked = record.join("locked");
        let Some(reason) = durable::read(&locked)? else {
            continue;
        };
        let named = name_of(&record).filter(|name| is_head_id(name));
        let Some(id) =
            named.filter(|id| reason.starts_with(format!("{LOCK_REASON}{id} ").as_bytes()))
        else {
            continue;
        };
        let folder = folder_of(&record)?;
        let ours = examination.layout().worktree(&workspace.id, id);
        if folder.as_deref() == Some(&ours) || folder.as_ref().is_some_and(|folder| folder.exists())
        {
            continue;
        }
        examination.tell(
            "locked-without-head",
            shown(&locked),
            format!(
                "the worktree is locked for the head {id} of another state folder, and its folder is not there: {}; if \
                 that state is gone for good, delete this file, and `git worktree prune` removes the record",
                folder.map_or_else(|| "the record doesn't name it".to_owned(), |folder| shown(&folder)),
            ),
        );
    }
    Ok(())
}

/// The folder that the worktree record names.
fn folder_of(record: &Path) -> Result<Option<PathBuf>> {
    use std::os::unix::ffi::OsStrExt as _;
    let link = durable::read(&record.join("gitdir"))?.unwrap_or_default();
    let link = Path::new(std::ffi::OsStr::from_bytes(link.trim_ascii()));
    let folder = link.parent().filter(|folder| folder.is_absolute());
    Ok(folder.map(Path::to_owned))
}

fn name_of(record: &Path) -> Option<&str> {
    record.file_name().and_then(|name| name.to_str())
}
