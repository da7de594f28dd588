//! Finishing or undoing, at open, what a crash cut short.

use std::sync::Arc;

use gix::ObjectId;

use super::busy::InUse;
use super::dead_locks::remove_dead_index_locks;
use super::destroy::finish_destruction;
use super::handle::Handle;
use super::restore::finish_restore;
use crate::advance;
use crate::context::Context;
use crate::error::{GitError, Result};
use crate::repository::{Refs, remove_dead_locks};
use crate::state::{HeadRecord, Intent, Lock, NameSlot, Operation, WorkspaceRecord, durable};
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
    let _exclusive = match changed_head(context, &intent) {
        Some(id) => Some(InUse::exclude(&context.layout, &id)?.ok_or(GitError::HeadInUse { id })?),
        None => None,
    };
    let workspace = WorkspaceRecord::load(&context.layout, &intent.head.workspace)?;
    let record = intent.head;
    match intent.operation {
        Operation::Create => {
            if is_recorded(context, &record) {
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
        Operation::Restore { checkpoint } => {
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
            finish_destruction(&handle, kept).map(drop)
        }
    }
}

/// Whether the operation that was cut short on the head `id` has to wait, because somebody uses the head whose files it
/// changes.
pub(crate) fn is_in_use(context: &Context, id: &str) -> Result<bool> {
    let changed =
        Intent::load(&context.layout, id)?.and_then(|intent| changed_head(context, &intent));
    match changed {
        Some(id) => Ok(InUse::exclude(&context.layout, &id)?.is_none()),
        None => Ok(false),
    }
}

/// Finishes or undoes, before a turn begins on the head of `handle`, every interrupted operation that changes its files.
/// One that is under way is waited for.
pub(super) fn settle_files(handle: &Handle) -> Result<()> {
    let own = handle.record.id.as_str();
    // Mostly there are none at all.
    for id in Intent::heads(handle.layout())? {
        if id == own {
            drop(handle.lock_whole()?);
        } else if changes(handle, &id)? {
            recover_head(&handle.context, &id).map_err(|failure| unfinished(&id, failure))?;
        }
    }
    Ok(())
}

/// Whether an interrupted operation on the head `id` changes the files of the head of `handle`.
pub(super) fn changes(handle: &Handle, id: &str) -> Result<bool> {
    let intent = Intent::load(handle.layout(), id)?;
    let changed = intent.and_then(|intent| changed_head(&handle.context, &intent));
    Ok(changed.is_some_and(|changed| changed == handle.record.id))
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

/// The head whose files the operation changes; `None` if it is nobody's yet, or a worktree of the user's.
fn changed_head(context: &Context, intent: &Intent) -> Option<String> {
    match &intent.operation {
        Operation::Create => None,
        Operation::Restore { .. } | Operation::Destroy { .. } => Some(intent.head.id.clone()),
        Operation::Advance(advance) => {
            let id = advance.git_dir.file_name()?.to_str()?;
            HeadRecord::load(&context.layout, &intent.head.workspace, id)
                .is_ok()
                .then(|| id.to_owned())
        }
    }
}

/// Whether the creation of `record` came as far as its record.
fn is_recorded(context: &Context, record: &HeadRecord) -> bool {
    HeadRecord::load(&context.layout, &record.workspace, &record.id).is_ok()
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
