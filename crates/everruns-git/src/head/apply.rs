//! The steps of a restore, and their undoing.

use std::collections::BTreeSet;
use std::path::Path;

use everruns_core::failpoint::hit;
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::filter::plumbing::pipeline::convert::to_worktree;
use gix::index::entry::Stat;
use gix::objs::tree::EntryKind;
use rustix::fs::FileType;

use super::handle::Handle;
use super::plan::{Step, plan};
use crate::advance::Contents;
use crate::checkpoint::Captured;
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::files::Files;
use crate::flush::{flush_folders_of, flush_reference};
use crate::index::{self, IndexLock, Seen};
use crate::repository::Refs;
use crate::state::durable;
use crate::worktree::conversion;

/// A head on its way from one state to another, with the lock of its index held.
pub(super) struct Change<'a> {
    handle: &'a Handle,
    worktree: &'a gix::Repository,
    lock: &'a IndexLock,
    before: &'a Captured,
    target: &'a Captured,
    files: Files,
    /// What a sparse checkout leaves out.
    left_out: BTreeSet<BString>,
    seen: Seen,
    /// The bytes of the index before.
    index: Option<Vec<u8>>,
    /// The paths that may have been changed already.
    begun: BTreeSet<BString>,
}

impl<'a> Change<'a> {
    /// A change that has not begun.
    pub(super) fn new(
        handle: &'a Handle,
        worktree: &'a gix::Repository,
        lock: &'a IndexLock,
        before: &'a Captured,
        target: &'a Captured,
    ) -> Result<Self> {
        let index = worktree.index_or_empty().git("read the index")?;
        Ok(Self {
            handle,
            worktree,
            lock,
            before,
            target,
            files: Files::open(&handle.worktree().folder)?,
            left_out: index::left_out(&index),
            seen: index::seen_by(&index, &handle.worktree().folder),
            index: lock.read()?,
            begun: BTreeSet::new(),
        })
    }

    /// Changes the files, the index and the branch, in this order.
    pub(super) fn apply(&mut self, steps: &[Step]) -> Result<()> {
        hit("git.restore.after-intent")?;
        self.remove(steps)?;
        hit("git.restore.after-removals")?;
        self.write(steps)?;
        hit("git.restore.after-files")?;
        index::write(self.lock, self.worktree, self.target, &self.seen)?;
        self.flush()?;
        hit("git.restore.after-index")?;
        self.move_branch(self.before.commit(), self.target.commit())?;
        hit("git.restore.after-branch")?;
        // Otherwise the next commit would conclude a merge or a cherry-pick whose changes have gone from the files.
        self.note_merge(self.target)
    }

    /// Puts back what [`apply`](Self::apply) has changed, and nothing else.
    pub(super) fn undo(&mut self) -> Result<()> {
        hit("git.restore.before-undo")?;
        let refs = Refs::new(self.worktree, self.handle.context.now());
        let at = refs.target(&self.handle.record.branch_ref())?;
        if self.before.head != self.target.head && at == self.target.commit() {
            self.move_branch(self.target.commit(), self.before.commit())?;
        }
        let mut contents =
            Contents::new(self.worktree, Files::open(&self.handle.worktree().folder)?)?;
        let mut steps = Vec::new();
        for step in plan(self.worktree, self.target.files, self.before.files)? {
            // What has not changed needs no room on a disk that may be full.
            if self.begun.contains(&step.path) && !contents.is(step.path.as_bstr(), step.becomes)? {
                steps.push(step);
            }
        }
        self.remove(&steps)?;
        self.write(&steps)?;
        self.lock.put_back(self.index.as_deref())?;
        self.flush()?;
        self.note_merge(self.before)
    }

    fn note_merge(&self, state: &Captured) -> Result<()> {
        state.manifest.note(self.worktree.git_dir())
    }

    /// Makes the names of the files and of the index durable: once the intent is forgotten, nobody makes up for them.
    fn flush(&self) -> Result<()> {
        flush_folders_of(&self.files, self.begun.iter().map(|path| path.as_bstr()))?;
        durable::sync_folder(&self.handle.worktree().record)
    }

    /// Removes what `steps` let go.
    fn remove(&mut self, steps: &[Step]) -> Result<()> {
        for step in steps.iter().filter(|step| step.becomes.is_none()) {
            // The folder of a submodule is not ours to remove.
            let is_folder = self
                .files
                .stat(step.path.as_ref())?
                .is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
            if !is_folder {
                self.begun.insert(step.path.clone());
                self.files.remove(step.path.as_ref())?;
            }
            self.seen.remove(&step.path);
        }
        Ok(())
    }

    /// Writes what `steps` put in place.
    fn write(&mut self, steps: &[Step]) -> Result<()> {
        let mut wanted = Vec::with_capacity(steps.len());
        for step in steps {
            // What is there all the same is not left out, whatever the index says.
            let left_out = self.left_out.contains(&step.path)
                && self.files.stat(step.path.as_ref())?.is_none();
            if !left_out {
                wanted.push(step);
            }
        }
        // Attributes decide how the other files are written, so they come first.
        let (attributes, others): (Vec<&Step>, Vec<&Step>) = wanted
            .into_iter()
            .partition(|step| step.path.ends_with(b".gitattributes"));
        let begun = &mut self.begun;
        for group in [attributes, others] {
            write(
                &self.handle.worktree().folder,
                self.worktree,
                &self.files,
                &group,
                &mut self.seen,
                &mut |path| {
                    begun.insert(path.to_owned());
                },
            )?;
        }
        Ok(())
    }

    fn move_branch(&self, from: Option<ObjectId>, to: Option<ObjectId>) -> Result<()> {
        if from == to {
            return Ok(());
        }
        let refs = Refs::new(self.worktree, self.handle.context.now());
        let branch = self.handle.record.branch_ref();
        let why = "restore checkpoint";
        match (from, to) {
            (Some(from), Some(to)) => refs.swap(&branch, from, to, why)?,
            (None, Some(to)) => refs.create(&branch, to, why)?,
            // The state before is kept by its checkpoint, and the branch is to be born again.
            (Some(from), None) => refs.delete(&branch, from)?,
            (None, None) => {}
        }
        flush_reference(self.worktree.common_dir(), &branch)
    }
}

/// Writes what `steps` put in place below `folder`, and notes in `seen` how it was written. `begin` is told of each path
/// just before.
pub(crate) fn write(
    folder: &Path,
    worktree: &gix::Repository,
    files: &Files,
    steps: &[&Step],
    seen: &mut Seen,
    begin: &mut dyn FnMut(&BStr),
) -> Result<()> {
    let (mut pipeline, _) = conversion(worktree)?;
    for step in steps {
        let Some((kind, id)) = step.becomes else {
            continue;
        };
        let path = step.path.as_ref();
        if !matches!(kind, EntryKind::Commit | EntryKind::Tree) {
            begin(path);
        }
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
