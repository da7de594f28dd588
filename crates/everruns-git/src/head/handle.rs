//! A head in use: each use proves anew that it is the recorded one.

use std::sync::Arc;

use super::recover::{is_own, settle, unfinished};
use crate::context::Context;
use crate::error::{GitError, Result};
use crate::state::{HeadRecord, HeadState, Layout, Lock, WorkspaceRecord};
use crate::worktree::Worktree;

/// A head of a workspace, as it was recorded when this handle was made.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    /// What the backend's operations share.
    pub(crate) context: Arc<Context>,
    /// The workspace.
    pub(crate) workspace: WorkspaceRecord,
    /// The head.
    pub(crate) record: HeadRecord,
}

impl Handle {
    /// The state folder's layout.
    pub(crate) fn layout(&self) -> &Layout {
        &self.context.layout
    }

    /// The head's worktree, which may be missing or not ours any more.
    pub(crate) fn worktree(&self) -> Worktree {
        let folder = self.layout().worktree(&self.workspace.id, &self.record.id);
        Worktree::new(&self.workspace.common_dir, &self.record.id, folder)
    }

    /// The record as it is now.
    pub(crate) fn reload(&self) -> Result<HeadRecord> {
        HeadRecord::load(self.layout(), &self.workspace.id, &self.record.id)
    }

    /// Waits for the head's lock.
    pub(crate) fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.layout().head_lock(&self.record.id), &self.record.id)
    }

    /// Waits for the head's lock, and finishes or undoes what a process that is gone left half done.
    ///
    /// `Unfinished` if that can't be done, and `HeadInUse` if not now: what follows would build on it.
    pub(crate) fn lock_whole(&self) -> Result<Lock> {
        let lock = self.lock()?;
        let id = &self.record.id;
        settle(&self.context, id).map_err(|failure| unfinished(id, failure))?;
        Ok(lock)
    }

    /// The same for who puts something else in the place of the head's files: what can't be finished or undone there is
    /// no obstacle.
    pub(crate) fn lock_to_replace(&self) -> Result<Lock> {
        let lock = self.lock()?;
        let id = &self.record.id;
        match settle(&self.context, id) {
            Err(failure) if is_own(self)? => warn(id, &failure),
            outcome => outcome.map_err(|failure| unfinished(id, failure))?,
        }
        Ok(lock)
    }

    /// The same for who only wants to see the head before or after an operation: what can't be finished or undone is
    /// left to those who change something.
    pub(crate) fn lock_to_look(&self) -> Result<Lock> {
        let lock = self.lock()?;
        let id = &self.record.id;
        if let Err(failure) = settle(&self.context, id) {
            warn(id, &failure);
        }
        Ok(lock)
    }

    /// Opens the head's worktree, once it is proved to be the recorded one.
    ///
    /// An archived head may still be used by who has it open; a destroyed one may not.
    pub(crate) fn open(&self) -> Result<gix::Repository> {
        let record = self.reload()?;
        if record.state == HeadState::Destroyed {
            return Err(destroyed(&record));
        }
        let worktree = self.worktree();
        worktree.verify()?;
        let repository = self.context.opener.open(&worktree.record)?;
        // The repository's configuration could send the library elsewhere.
        if repository.workdir() == Some(worktree.folder.as_path()) {
            Ok(repository)
        } else {
            Err(GitError::Forged {
                path: worktree.record,
                what: "the repository's configuration names another working tree",
            })
        }
    }

    /// Fails unless `HEAD` names the head's own branch.
    pub(crate) fn expect_own_branch(&self, worktree: &gix::Repository) -> Result<()> {
        let found = checked_out(worktree);
        if found == self.record.branch_ref() {
            return Ok(());
        }
        Err(GitError::BranchSwitched {
            branch: self.record.branch.clone(),
            found,
        })
    }
}

fn warn(id: &str, failure: &GitError) {
    tracing::warn!(head = id, error = %failure, "an interrupted operation can't be completed yet");
}

/// What `HEAD` names: a branch's full name, or a commit's id.
pub(crate) fn checked_out(worktree: &gix::Repository) -> String {
    match worktree.head_name() {
        Ok(Some(name)) => name.as_bstr().to_string(),
        _ => worktree
            .head_id()
            .map_or_else(|_| "nothing".to_owned(), |id| id.to_string()),
    }
}

/// The error that says that the head of `record` was destroyed, and where its work is.
pub(crate) fn destroyed(record: &HeadRecord) -> GitError {
    GitError::HeadDestroyed {
        id: record.id.clone(),
        kept: record.kept.clone().unwrap_or_else(|| record.branch.clone()),
    }
}
