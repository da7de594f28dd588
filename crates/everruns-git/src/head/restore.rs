//! Bringing a head back to a checkpoint.

use std::path::Path;

use everruns_core::failpoint::hit;
use gix::ObjectId;
use gix::bstr::BString;
use gix::filter::plumbing::pipeline::convert::to_worktree;
use gix::index::entry::Stat;
use gix::objs::tree::EntryKind;
use rustix::fs::FileType;

use super::handle::{Handle, destroyed};
use super::plan::{Step, check_way, plan};
use crate::checkpoint::{self, Captured, Checkpoint};
use crate::error::{GitError, GitStep as _, IoStep as _, Result};
use crate::files::Files;
use crate::index::{self, Seen};
use crate::repository::Refs;
use crate::state::{HeadState, Intent, Operation};
use crate::worktree::conversion;

/// What a restore did.
#[derive(Debug, Clone)]
pub(crate) struct Restored {
    /// The state before.
    pub(crate) before: Checkpoint,
    /// The paths that were written or removed.
    pub(crate) changed: Vec<BString>,
}

/// Brings the head to the state of `target`, after keeping the present one.
///
/// Everything that could stand in the way is looked for first; once the intent is recorded, a crash is made up for
/// at the next open.
pub(crate) fn restore(handle: &Handle, target: &Checkpoint) -> Result<Restored> {
    let _lock = handle.lock()?;
    let record = handle.reload()?;
    if record.state == HeadState::Destroyed {
        return Err(destroyed(&record));
    }
    let worktree = handle.open()?;
    let before = keep(handle, &worktree)?;
    let steps = prepare(handle, &worktree, &before.state, &target.state)?;
    hit("git.restore.after-checkpoint")?;
    let operation = Operation::Restore {
        checkpoint: target.id.to_string(),
    };
    Intent {
        head: record,
        operation,
    }
    .save(handle.layout())?;
    hit("git.restore.after-intent")?;
    apply(handle, &worktree, &steps, &before.state, &target.state)?;
    Intent::clear(handle.layout(), &handle.record.id)?;
    Ok(Restored {
        before,
        changed: steps.into_iter().map(|step| step.path).collect(),
    })
}

/// What a restore would do.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The paths that would change.
    pub(crate) steps: Vec<Step>,
    /// The paths that are in the way.
    pub(crate) blocked: Vec<String>,
    /// Where the branch would move to, if it would; the null id if it would have no commits any more.
    pub(crate) branch_to: Option<ObjectId>,
}

/// Finds out what a restore to the state of `target` would do, and stores nothing.
pub(crate) fn plan_restore(handle: &Handle, target: &Checkpoint) -> Result<Planned> {
    let worktree = handle.open()?.with_object_memory();
    let before = checkpoint::capture(&worktree)?;
    let moves = before.head != target.state.head;
    if moves {
        handle.expect_own_branch(&worktree)?;
    }
    let steps = plan(&worktree, before.files, target.state.files)?;
    let blocked = match check_way(&files_of(handle)?, &steps) {
        Ok(()) => Vec::new(),
        Err(GitError::InTheWay { paths }) => paths,
        Err(failure) => return Err(failure),
    };
    Ok(Planned {
        steps,
        blocked,
        branch_to: moves.then_some(target.state.head),
    })
}

/// Finishes the restore to the commit `checkpoint` after a crash. The caller holds the head's lock.
pub(super) fn finish_restore(handle: &Handle, checkpoint: &str) -> Result<()> {
    let worktree = handle.open()?;
    let id =
        ObjectId::from_hex(checkpoint.as_bytes()).map_err(|_| GitError::CheckpointUnknown {
            revision: checkpoint.to_owned(),
        })?;
    let target = Checkpoint::read(&worktree, &handle.record.id, 0, id)?;
    // What somebody changed since the crash is kept as well.
    let before = keep(handle, &worktree)?;
    let steps = prepare(handle, &worktree, &before.state, &target.state)?;
    apply(handle, &worktree, &steps, &before.state, &target.state)?;
    Intent::clear(handle.layout(), &handle.record.id)
}

fn keep(handle: &Handle, worktree: &gix::Repository) -> Result<Checkpoint> {
    checkpoint::take(&handle.context, worktree, &handle.record.id, None)
}

fn prepare(
    handle: &Handle,
    worktree: &gix::Repository,
    before: &Captured,
    target: &Captured,
) -> Result<Vec<Step>> {
    if before.head != target.head {
        handle.expect_own_branch(worktree)?;
    }
    let steps = plan(worktree, before.files, target.files)?;
    check_way(&files_of(handle)?, &steps)?;
    Ok(steps)
}

fn files_of(handle: &Handle) -> Result<Files> {
    Files::open(&handle.worktree().folder)
}

/// Changes the files, the index and the branch, in this order.
fn apply(
    handle: &Handle,
    worktree: &gix::Repository,
    steps: &[Step],
    before: &Captured,
    target: &Captured,
) -> Result<()> {
    let files = files_of(handle)?;
    let index = worktree.index_or_empty().git("read the index")?;
    let mut seen = index::seen_by(&index);
    let left_out = index::left_out(&index);
    for step in steps.iter().filter(|step| step.becomes.is_none()) {
        // The folder of a submodule is not ours to remove.
        let is_folder = files
            .stat(step.path.as_ref())?
            .is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        if !is_folder {
            files.remove(step.path.as_ref())?;
        }
        seen.remove(&step.path);
    }
    hit("git.restore.after-removals")?;
    // Attributes decide how the other files are written, so they come first.
    let (attributes, others): (Vec<&Step>, Vec<&Step>) = steps
        .iter()
        .filter(|step| !left_out.contains(&step.path))
        .partition(|step| step.path.ends_with(b".gitattributes"));
    for group in [attributes, others] {
        write(
            &handle.worktree().folder,
            worktree,
            &files,
            &group,
            &mut seen,
        )?;
    }
    hit("git.restore.after-files")?;
    index::write(worktree, target, &seen)?;
    hit("git.restore.after-index")?;
    if before.head != target.head {
        let refs = Refs::new(worktree, handle.context.now());
        let branch = handle.record.branch_ref();
        let why = "restore checkpoint";
        match (before.commit(), target.commit()) {
            (Some(from), Some(to)) => refs.swap(&branch, from, to, why)?,
            (None, Some(to)) => refs.create(&branch, to, why)?,
            // The state before is kept by its checkpoint, and the branch is to be born again.
            (Some(from), None) => refs.delete(&branch, from)?,
            (None, None) => {}
        }
    }
    hit("git.restore.after-branch")?;
    Ok(())
}

/// Writes what `steps` put in place below `folder`, and notes in `seen` how it was written.
pub(crate) fn write(
    folder: &Path,
    worktree: &gix::Repository,
    files: &Files,
    steps: &[&Step],
    seen: &mut Seen,
) -> Result<()> {
    let (mut pipeline, _) = conversion(worktree)?;
    for step in steps {
        let Some((kind, id)) = step.becomes else {
            continue;
        };
        let path = step.path.as_ref();
        match kind {
            EntryKind::Blob | EntryKind::BlobExecutable => {
                let blob = worktree
                    .find_blob(id)
                    .git("read a file of the checkpoint")?;
                let mut converted = pipeline
                    .convert_to_worktree(&blob.data, path, to_worktree::Options::default())
                    .git("convert a file")?;
                let mut content = Vec::with_capacity(blob.data.len());
                std::io::copy(&mut converted, &mut content).step("convert", folder)?;
                files.write(path, &content, kind == EntryKind::BlobExecutable)?;
            }
            EntryKind::Link => {
                let blob = worktree
                    .find_blob(id)
                    .git("read a link of the checkpoint")?;
                files.link(path, blob.data.as_slice().into())?;
            }
            // The folders of nested repositories are not ours to make or to remove.
            EntryKind::Commit | EntryKind::Tree => continue,
        }
        let native = folder.join(gix::path::from_bstr(path).git("convert a path")?);
        let found =
            gix::index::fs::Metadata::from_path_no_follow(&native).step("look at", &native)?;
        if let Ok(stat) = Stat::from_fs(&found) {
            seen.insert(step.path.clone(), (stat, id, index::mode_of(kind)));
        }
    }
    Ok(())
}
