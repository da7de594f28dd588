//! Moving a worktree and its branch.

use everruns_core::failpoint::hit;
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use gix::objs::tree::EntryKind;
use rustix::fs::FileType;

use super::Advance;
use super::content::Contents;
use crate::context::Context;
use crate::error::{GitError, Result};
use crate::files::Files;
use crate::flush::{flush_folders_of, flush_reference};
use crate::head::{self, Handle, Step, plan};
use crate::index::{IndexLock, Seen};
use crate::repository::Refs;
use crate::state::{Intent, Operation, durable};

/// Does what `advance` says to the worktree opened as `worktree`, on behalf of the head of `handle`, whose lock the
/// caller holds.
///
/// Everything that could stand in the way has been looked for before, and every object is on the disk. When a step
/// fails, what was done is undone; `NotUndone` if that fails, too, and `Unfinished` if the branch has moved already.
pub(crate) fn run(handle: &Handle, worktree: &gix::Repository, advance: &Advance) -> Result<()> {
    let lock = IndexLock::take(&worktree.index_path())?;
    run_locked(handle, worktree, &lock, advance)
}

/// The same where the lock of the worktree's index is held already.
pub(crate) fn run_locked(
    handle: &Handle,
    worktree: &gix::Repository,
    lock: &IndexLock,
    advance: &Advance,
) -> Result<()> {
    let layout = handle.layout();
    let before = lock.read()?;
    Intent {
        head: handle.reload()?,
        operation: Operation::Advance(Box::new(advance.clone())),
    }
    .begin(layout)?;
    let done = hit("git.advance.after-intent")
        .map_err(GitError::from)
        .and_then(|()| forward(&handle.context, worktree, lock, advance));
    let id = &handle.record.id;
    let unfinished = |failure| GitError::Unfinished {
        id: id.clone(),
        source: Box::new(failure),
    };
    let Err(failure) = done else {
        return Intent::clear(layout, id).map_err(unfinished);
    };
    match has_moved(worktree, advance, handle.context.now()) {
        Ok(false) => {}
        // The branch vouches for what is there now; the next who goes on with the head makes up for what is missing.
        Ok(true) => return Err(unfinished(failure)),
        // Files must not go back under a branch that may have moved; the next who goes on with the head will know.
        Err(unknown) => {
            tracing::warn!(
                head = id,
                branch = advance.branch,
                error = %unknown,
                "a failed step is left as it is, because the branch can't be read"
            );
            return Err(failure.not_undone(id, unknown));
        }
    }
    let undone = back(worktree, advance)
        .and_then(|()| lock.put_back(before.as_deref()))
        .and_then(|()| durable::sync_folder(&advance.git_dir))
        .and_then(|()| Intent::clear(layout, id));
    match undone {
        Ok(()) => Err(failure),
        Err(second) => {
            tracing::warn!(head = id, error = %second, "a failed step is left half done");
            Err(failure.not_undone(id, second))
        }
    }
}

/// Whether the branch is where it was to go.
fn has_moved(worktree: &gix::Repository, advance: &Advance, now: i64) -> Result<bool> {
    if advance.from == advance.to {
        return Ok(false);
    }
    let at = Refs::new(worktree, now).target(&advance.branch)?;
    Ok(at == Some(advance.to))
}

/// Does all steps, of which any may have been done before.
pub(super) fn forward(
    context: &Context,
    worktree: &gix::Repository,
    lock: &IndexLock,
    advance: &Advance,
) -> Result<()> {
    let mut seen = Seen::new();
    if advance.files.from != advance.files.to {
        let steps = plan(worktree, advance.files.from, advance.files.to)?;
        write(worktree, advance, &steps, &mut seen)?;
    }
    hit("git.advance.after-files")?;
    advance.change_index(lock, worktree, &seen)?;
    durable::sync_folder(&advance.git_dir)?;
    hit("git.advance.after-index")?;
    // What the branch is going to vouch for is on the disk before it moves.
    context.flushed.flush(worktree)?;
    hit("git.advance.after-flush")?;
    if advance.from != advance.to {
        move_branch(worktree, advance, context.now())?;
    }
    hit("git.advance.after-branch")?;
    advance.note_merge()?;
    Ok(hit("git.advance.after-notes")?)
}

fn move_branch(worktree: &gix::Repository, advance: &Advance, now: i64) -> Result<()> {
    let refs = Refs::new(worktree, now);
    let moved = if advance.from.is_null() {
        refs.create(&advance.branch, advance.to, &advance.why)
    } else {
        refs.swap(&advance.branch, advance.from, advance.to, &advance.why)
    };
    moved.map_err(|failure| match failure {
        GitError::ReferenceMoved { .. } => GitError::BranchMoved {
            branch: advance
                .branch
                .strip_prefix("refs/heads/")
                .unwrap_or(&advance.branch)
                .to_owned(),
        },
        failure => failure,
    })?;
    flush_reference(worktree.common_dir(), &advance.branch)
}

/// Changes the files as `steps` say.
fn write(
    worktree: &gix::Repository,
    advance: &Advance,
    steps: &[Step],
    seen: &mut Seen,
) -> Result<()> {
    let files = Files::open(&advance.folder)?;
    for step in steps.iter().filter(|step| step.becomes.is_none()) {
        // The folder of a nested repository is not ours to remove.
        let is_folder = files
            .stat(step.path.as_ref())?
            .is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        if !is_folder {
            files.remove(step.path.as_ref())?;
        }
    }
    hit("git.advance.after-removals")?;
    // Attributes decide how the other files are written, so they come first.
    let (attributes, others): (Vec<&Step>, Vec<&Step>) = steps
        .iter()
        .partition(|step| step.path.ends_with(b".gitattributes"));
    for group in [attributes, others] {
        head::write(&advance.folder, worktree, &files, &group, seen, &mut |_| ())?;
    }
    flush_folders_of(&files, steps.iter().map(|step| step.path.as_bstr()))
}

/// Puts the files back that have been changed already, and no others.
pub(super) fn back(worktree: &gix::Repository, advance: &Advance) -> Result<()> {
    if advance.files.from == advance.files.to {
        return Ok(());
    }
    let mut contents = Contents::new(worktree, Files::open(&advance.folder)?)?;
    let mut steps = Vec::new();
    let backwards = plan(worktree, advance.files.to, advance.files.from)?;
    let done = plan(worktree, advance.files.from, advance.files.to)?;
    for step in backwards {
        let target = becomes(&done, step.path.as_bstr());
        if contents.is(step.path.as_bstr(), target)? {
            steps.push(step);
        }
    }
    let mut seen = Seen::new();
    write(worktree, advance, &steps, &mut seen)
}

/// What becomes of `path` by `steps`, which are sorted by path.
fn becomes(steps: &[Step], path: &BStr) -> Option<(EntryKind, ObjectId)> {
    let found = steps.binary_search_by(|step| step.path.as_bstr().cmp(path));
    found.ok().and_then(|at| steps[at].becomes)
}

impl Advance {
    /// Whether somebody has given a path another content than the one before and the one after.
    pub(super) fn changed_by_others(&self, worktree: &gix::Repository) -> Result<bool> {
        if self.files.from == self.files.to {
            return Ok(false);
        }
        let mut contents = Contents::new(worktree, Files::open(&self.folder)?)?;
        let before = plan(worktree, self.files.to, self.files.from)?;
        for step in plan(worktree, self.files.from, self.files.to)? {
            let path = step.path.as_bstr();
            let was = becomes(&before, path);
            // Removals come before the files that take their place, so nothing is fine as well.
            let known = contents.is(path, None)?
                || contents.is(path, step.becomes)?
                || contents.is(path, was)?;
            if !known {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
