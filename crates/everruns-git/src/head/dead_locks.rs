//! Locks of indexes that killed processes of ours left.

use std::fs;
use std::path::Path;

use crate::context::Context;
use crate::error::{IoStep as _, Result};
use crate::index::{IndexLock, Leftover};
use crate::state::{HeadRecord, Lock, WorkspaceRecord};

/// Removes the locks of indexes of the workspace's repository, the user's own index included, that say themselves that
/// a dead process of ours holds them.
pub(super) fn remove_dead_index_locks(
    context: &Context,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    let common = &workspace.common_dir;
    let own = common.join("index");
    IndexLock::remove_dead(&own)?;
    IndexLock::remove_dead_announcements(&own)?;
    let records = common.join("worktrees");
    let entries = match fs::read_dir(&records) {
        Ok(entries) => entries,
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(failure) => return Err(failure).step("list", &records),
    };
    for entry in entries {
        let record = entry.step("list", &records)?.path();
        let index = record.join("index");
        IndexLock::remove_dead_announcements(&index)?;
        if IndexLock::inspect(&index)? != Leftover::Dead {
            continue;
        }
        // Whoever works on a head of ours sees to it.
        let _lock = match lock_of(context, workspace, &record) {
            Some(path) => match Lock::try_acquire(&path)? {
                Some(lock) => Some(lock),
                None => continue,
            },
            None => None,
        };
        IndexLock::remove_dead(&index)?;
    }
    Ok(())
}

/// The lock of the head with this record, if it is one of ours.
fn lock_of(
    context: &Context,
    workspace: &WorkspaceRecord,
    record: &Path,
) -> Option<std::path::PathBuf> {
    let id = record.file_name()?.to_str()?;
    HeadRecord::load(&context.layout, &workspace.id, id).ok()?;
    Some(context.layout.head_lock(id))
}
