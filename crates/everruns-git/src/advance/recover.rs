//! Finishing or undoing what a crash cut short.

use super::Advance;
use super::record::Trees;
use super::run::{back, forward};
use crate::error::Result;
use crate::head::Handle;
use crate::index::{IndexLock, Seen};
use crate::repository::Refs;
use crate::state::{Intent, Lock, path_text};
use crate::worktree::is_linked;

/// Finishes `advance`, or undoes it if somebody has changed what it changes since. The caller holds the head's lock.
pub(crate) fn recover(handle: &Handle, advance: &Advance) -> Result<()> {
    // Nobody else moves a branch together with its worktree meanwhile.
    let layout = handle.layout();
    let _branches = Lock::acquire(&layout.branches_lock(&handle.workspace.id), &advance.branch)?;
    let done = |()| Intent::clear(handle.layout(), &handle.record.id);
    if !is_linked(&advance.folder, &advance.git_dir)? {
        // Nothing that was begun is there any more.
        return done(());
    }
    let worktree = handle.context.opener.open(&advance.git_dir)?;
    if worktree.workdir() != Some(advance.folder.as_path()) {
        return done(());
    }
    let lock = IndexLock::take(&worktree.index_path())?;
    let at = Refs::new(&worktree, handle.context.now())
        .target(&advance.branch)?
        .unwrap_or_else(|| worktree.object_hash().null());
    let has_moved = advance.from != advance.to && at == advance.to;
    if has_moved || advance.is_noted()? {
        return advance.note_merge().and_then(done);
    }
    if at != advance.from {
        tracing::warn!(
            head = handle.record.id,
            branch = advance.branch,
            "the branch has been moved elsewhere since an interrupted step; the files are left as they are"
        );
        return done(());
    }
    if advance.changed_by_others(&worktree)? {
        back(&worktree, advance)?;
        let undo = Advance {
            index: Trees {
                from: advance.index.to,
                to: advance.index.from,
            },
            settled: conflicts(advance),
            stages: Vec::new(),
            ..advance.clone()
        };
        return undo
            .change_index(&lock, &worktree, &Seen::new())
            .and_then(done);
    }
    forward(&handle.context, &worktree, &lock, advance).and_then(done)
}

/// The paths of the conflicts, encoded as in all records.
fn conflicts(advance: &Advance) -> Vec<String> {
    let paths = advance.stages.iter().map(|stage| &stage.path);
    let mut paths: Vec<String> = paths.map(|path| path_text::encode(path)).collect();
    paths.dedup();
    paths
}
