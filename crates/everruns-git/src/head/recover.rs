//! Finishing or undoing, at open, what a crash cut short.

use std::sync::Arc;

use gix::ObjectId;

use super::busy::InUse;
use super::dead_locks::remove_dead_index_locks;
use super::destroy::recover_destruction;
use super::handle::Handle;
use super::restore::finish_restore;
use crate::advance;
use crate::context::Context;
use crate::error::{GitError, Result};
use crate::repository::{Refs, remove_dead_locks};
use crate::state::{
    HeadRecord, Intent, Layout, Lock, NameSlot, Operation, WorkspaceRecord, durable,
};
use crate::worktree::{Worktree, delete};

/// Finishes or undoes every operation whose process is gone.
///
/// An operation under way holds its head's lock, so what can be locked has been abandoned. One head that can't be
/// recovered doesn't keep the others from being used: it is left as it is, for the next open, and logged.
pub(crate) fn recover(context: &Arc<Context>) -> Result<()> {
    for workspace in WorkspaceRecord::all(&context.layout)? {
        let removed = remove_dead_locks(&workspace.common_dir)
            .and_then(|()| remove_dead_index_locks(context, &workspace));
        if let Err(failure) = removed {
            tracing::warn!(
                repository = %workspace.common_dir.display(),
                error = %failure,
                "the locks of a killed process can't be removed yet"
            );
        }
    }
    for id in Intent::heads(&context.layout)? {
        if let Err(failure) = recover_head(context, &id) {
            tracing::warn!(head = id, error = %failure, "an interrupted operation can't be completed yet");
        }
    }
    if !context.layout.trashed()?.is_empty() {
        context.trash.empty_soon(&context.layout);
    }
    Ok(())
}

/// Finishes or undoes the operation on the head `id`, unless it is still under way.
///
/// `HeadInUse` if a turn runs on the head whose files it changes: they must not change under it.
pub(crate) fn recover_head(context: &Arc<Context>, id: &str) -> Result<()> {
    match Lock::try_acquire(&context.layout.head_lock(id))? {
        Some(_lock) => settle(context, id),
        None => Ok(()),
    }
}

/// The same where the caller holds the lock of the head `id`, so that nothing is under way on it.
pub(super) fn settle(context: &Arc<Context>, id: &str) -> Result<()> {
    let Some(intent) = Intent::load(&context.layout, id)? else {
        return Ok(());
    };
    let _exclusive = match changed_head(context, &intent)? {
        Some(id) => Some(InUse::exclude(&context.layout, &id)?.ok_or(GitError::HeadInUse { id })?),
        None => None,
    };
    let workspace = WorkspaceRecord::load(&context.layout, &intent.head.workspace)?;
    let record = intent.head;
    match intent.operation {
        Operation::Create => {
            if is_head(&context.layout, &record.workspace, id)? {
                return Intent::clear(&context.layout, id);
            }
            undo_creation(context, &workspace, &record)
        }
        Operation::Advance(advance) => {
            let handle = Handle {
                context: Arc::clone(context),
                workspace,
                record,
            };
            advance::recover(&handle, &advance)
        }
        Operation::Restore { checkpoint, .. } => {
            let handle = Handle {
                context: Arc::clone(context),
                workspace,
                record,
            };
            finish_restore(&handle, &checkpoint)
        }
        Operation::Destroy { kept } => {
            let handle = Handle {
                context: Arc::clone(context),
                workspace,
                record,
            };
            recover_destruction(&handle, kept)
        }
    }
}

/// Whether the operation that was cut short on the head `id` has to wait, because somebody uses the head whose files it
/// changes.
pub(crate) fn is_in_use(context: &Context, id: &str) -> Result<bool> {
    let Some(intent) = Intent::load(&context.layout, id)? else {
        return Ok(false);
    };
    match changed_head(context, &intent)? {
        Some(id) => Ok(InUse::exclude(&context.layout, &id)?.is_none()),
        None => Ok(false),
    }
}

/// Whether no operation is recorded that is about the worktree of the head of `handle`.
pub(super) fn is_whole(handle: &Handle) -> Result<bool> {
    // Mostly there are none at all.
    for id in Intent::heads(handle.layout())? {
        if is_about(handle, &id)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finishes or undoes, before a turn begins on the head of `handle`, every interrupted operation on its worktree,
/// whichever head it is an operation of. One that is under way is waited for.
pub(super) fn settle_files(handle: &Handle) -> Result<()> {
    for id in Intent::heads(handle.layout())? {
        if is_about(handle, &id)? {
            let _lock = Lock::acquire(&handle.layout().head_lock(&id), &id)?;
            settle(&handle.context, &id).map_err(|failure| unfinished(&id, failure))?;
        }
    }
    Ok(())
}

/// Finishes or undoes an interrupted operation of the head `id` on its own worktree. The caller holds its lock.
pub(crate) fn settle_own(context: &Arc<Context>, id: &str) -> Result<()> {
    match Intent::load(&context.layout, id)? {
        Some(intent) if worktree_of(&intent) == Some(id) => {
            settle(context, id).map_err(|failure| unfinished(id, failure))
        }
        _ => Ok(()),
    }
}

/// Whether an operation that the head `id` has recorded is about the worktree of the head of `handle`.
///
/// The record of another head that can't be read is told, and stops nobody here.
fn is_about(handle: &Handle, id: &str) -> Result<bool> {
    match Intent::load(handle.layout(), id) {
        Ok(Some(intent)) => Ok(worktree_of(&intent) == Some(handle.record.id.as_str())),
        Ok(None) => Ok(false),
        Err(failure) if id == handle.record.id || failure.is_of_process() => Err(failure),
        Err(failure) => {
            tracing::warn!(head = id, error = %failure, "the record of an operation can't be read");
            Ok(false)
        }
    }
}

/// Whether what the head of `handle` itself has recorded is about its own worktree.
pub(super) fn is_own(handle: &Handle) -> Result<bool> {
    is_about(handle, &handle.record.id)
}

/// The error of who cannot go on with the head `id` because of `failure`.
pub(super) fn unfinished(id: &str, failure: GitError) -> GitError {
    match failure {
        GitError::HeadInUse { .. } | GitError::Locked { .. } | GitError::Failpoint(_) => failure,
        failure => GitError::Unfinished {
            id: id.to_owned(),
            source: Box::new(failure),
        },
    }
}

/// The name of the worktree that the operation is about, which is the head's id where it is one of ours; `None` if it
/// is nobody's yet.
fn worktree_of(intent: &Intent) -> Option<&str> {
    match &intent.operation {
        Operation::Create => None,
        Operation::Restore { .. } | Operation::Destroy { .. } => Some(&intent.head.id),
        Operation::Advance(advance) => advance.git_dir.file_name()?.to_str(),
    }
}

/// The head whose files the operation changes; `None` if it is nobody's yet, or a worktree of the user's, or if only
/// the index and the branch change, as when a turn's own work is committed.
fn changed_head(context: &Context, intent: &Intent) -> Result<Option<String>> {
    let Some(id) = worktree_of(intent) else {
        return Ok(None);
    };
    if let Operation::Advance(advance) = &intent.operation
        && (advance.files.from == advance.files.to
            || !is_head(&context.layout, &intent.head.workspace, id)?)
    {
        return Ok(None);
    }
    Ok(Some(id.to_owned()))
}

/// Whether `id` is a head of ours in `workspace`, whatever its state. A record that can't be read is an error: it may
/// well be one.
pub(crate) fn is_head(layout: &Layout, workspace: &str, id: &str) -> Result<bool> {
    match HeadRecord::load(layout, workspace, id) {
        Ok(_) => Ok(true),
        Err(GitError::HeadUnknown { .. }) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Removes everything that the creation of `record` has made so far. The caller holds the head's lock.
pub(super) fn undo_creation(
    context: &Context,
    workspace: &WorkspaceRecord,
    record: &HeadRecord,
) -> Result<()> {
    let layout = &context.layout;
    let folder = layout.worktree(&workspace.id, &record.id);
    {
        let _shared = Lock::acquire(&layout.repository_lock(&workspace.id), &workspace.id)?;
        let worktree = Worktree::new(&workspace.common_dir, &record.id, folder.clone());
        worktree.unregister()?;
        let repository = context.repository(workspace)?;
        let refs = Refs::new(&repository, record.created_at);
        let base = ObjectId::from_hex(record.base.as_bytes()).ok();
        // Nobody can have committed to the branch of a head that was never ready; if its commit is another
        // one all the same, it is somebody's work and stays.
        if let Some(base) = base
            && refs.target(&record.branch_ref())? == Some(base)
        {
            refs.delete(&record.branch_ref(), base)?;
        }
    }
    delete(&folder)?;
    NameSlot::new(layout, &workspace.id, &record.name).free(&record.id)?;
    durable::remove(&layout.included(&workspace.id, &record.id))?;
    durable::remove(&layout.head(&workspace.id, &record.id))?;
    Intent::clear(layout, &record.id)?;
    // The id was never given out, so nobody waits for this lock.
    durable::remove(&layout.head_lock(&record.id))
}
