//! Leftovers in the state folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::context::{Examination, shown};
use crate::error::{IoStep as _, Result};
use crate::head;
use crate::state::{Intent, Lock, Operation, WorkspaceRecord, durable};
use crate::worktree::delete;

/// How long a temporary file is left alone, in milliseconds; none is written for nearly as long.
const PATIENCE: i64 = 60 * 60 * 1000;

/// Operations whose process is gone.
pub(super) fn operations(examination: &mut Examination<'_>) -> Result<()> {
    let layout = examination.layout();
    for id in Intent::heads(layout)? {
        // Who works on a head holds its lock.
        if Lock::try_acquire(&layout.head_lock(&id))?.is_none() {
            continue;
        }
        let context = examination.context;
        let in_use = match head::is_in_use(context, &id) {
            Err(failure) if !failure.is_of_process() => {
                let record = shown(&layout.intent(&id));
                examination.tell("unreadable-record", record, failure.to_string());
                continue;
            }
            in_use => in_use?,
        };
        if in_use {
            examination.tell(
                "interrupted-operation",
                &id,
                "an operation on this head was cut short, and a process uses the head whose files it changes; it is \
                 finished or undone at the first open after that",
            );
            continue;
        }
        // Its process may just have come to the end of it.
        let Some(intent) = Intent::load(layout, &id)? else {
            continue;
        };
        examination.offer(
            "interrupted-operation",
            &id,
            cut_short(&intent.operation),
            || head::recover_head(context, &id),
        );
    }
    Ok(())
}

/// What the operation that was cut short is, and what becomes of it.
fn cut_short(operation: &Operation) -> &'static str {
    match operation {
        Operation::Create => {
            "the creation of this head was cut short; what there is of it is removed, unless it was as good as done"
        }
        Operation::Restore { .. } => {
            "a restore of this head was cut short; it is finished, after what is in the head now is kept"
        }
        Operation::Destroy { .. } => {
            "the destruction of this head was cut short; it is finished, and its branch and what was kept stay"
        }
        Operation::Advance(_) => {
            "a commit, merge or update of this head was cut short; it is finished, or undone if something was changed since"
        }
    }
}

/// Folders of destroyed heads that are not deleted yet.
pub(super) fn trash(examination: &mut Examination<'_>) -> Result<()> {
    let layout = examination.layout();
    for id in layout.trashed()? {
        let folder = layout.trash(&id);
        examination.offer(
            "trash",
            shown(&folder),
            "the folder of a destroyed head waits to be deleted",
            || delete(&folder),
        );
    }
    Ok(())
}

/// The workspaces that the state folder knows; what can't be read is told.
pub(super) fn workspaces(examination: &mut Examination<'_>) -> Result<Vec<WorkspaceRecord>> {
    let layout = examination.layout();
    let mut found = Vec::new();
    for path in list(&layout.workspaces())? {
        let Some(id) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let Some(id) = id.strip_suffix(".json") else {
            continue;
        };
        match WorkspaceRecord::load(layout, id) {
            Ok(record) => found.push(record),
            Err(failure) => {
                examination.tell("unreadable-record", shown(&path), failure.to_string());
            }
        }
    }
    found.sort_by(|left, right| left.id.cmp(&right.id));
    Ok(found)
}

/// Names that are held by no head.
pub(super) fn names(examination: &mut Examination<'_>, workspace: &WorkspaceRecord) -> Result<()> {
    for path in list(&examination.layout().names(&workspace.id))? {
        if is_temporary(&path) {
            continue;
        }
        let Some(holder) = durable::read(&path)? else {
            continue;
        };
        let holder = String::from_utf8_lossy(&holder).into_owned();
        if examination.is_unaccounted(&workspace.id, &holder)? {
            examination.offer(
                "name-without-head",
                shown(&path),
                format!("a name is held for the head {holder}, which is no more"),
                || durable::remove(&path),
            );
        }
    }
    Ok(())
}

/// Temporary files of writes that were cut short.
pub(super) fn temporaries(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    let layout = examination.layout();
    let folders = [
        layout.workspaces(),
        layout.names(&workspace.id),
        layout.heads(&workspace.id),
        layout.intents(),
    ];
    for folder in folders {
        for path in list(&folder)? {
            if is_temporary(&path) && age(&path, examination.context.now()) > PATIENCE {
                examination.offer(
                    "temporary-file",
                    shown(&path),
                    "a write of a record was cut short; the record itself is whole",
                    || durable::remove(&path),
                );
            }
        }
    }
    Ok(())
}

fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(durable::TEMPORARY_PREFIX))
}

/// How long ago `path` was changed, in milliseconds; 0 if that can't be told.
fn age(path: &Path, now: i64) -> i64 {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(path).map_or(0, |meta| now.saturating_sub(meta.mtime() * 1000))
}

/// What is in `folder`; nothing if there is no such folder.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(failure) => return Err(failure).step("list", folder),
    };
    entries
        .map(|entry| Ok(entry.step("list", folder)?.path()))
        .collect()
}
