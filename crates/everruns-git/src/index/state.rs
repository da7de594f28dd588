//! The index of a head, made from a checkpoint.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use gix::bstr::{BStr, BString};
use gix::index::entry::{Flags, Mode, Stage, Stat};
use gix::objs::tree::EntryKind;

use super::lock::IndexLock;
use super::marks::{Marks, mark, marks};
use super::write::replace;
use super::young::Certain;
use crate::checkpoint::Captured;
use crate::error::{GitStep as _, Result};

/// What is known of a file on disk: its stat, and the content and kind that it was seen with.
pub(crate) type Seen = HashMap<BString, (Stat, gix::ObjectId, Mode)>;

/// What `index` knows of the files in `folder`, without what is too young to be sure of: the next comparison reads that.
pub(crate) fn seen_by(index: &gix::index::State, folder: &Path) -> Seen {
    let certain = Certain::of(index, folder);
    let mut seen = Seen::new();
    for entry in index.entries() {
        let path = entry.path(index);
        if entry.stage() == Stage::Unconflicted && certain.is(path, &entry.stat) {
            seen.insert(path.to_owned(), (entry.stat, entry.id, entry.mode));
        }
    }
    seen
}

/// Forgets what `index` knows of files in `folder` that are too young, for an index that is written again.
pub(crate) fn forget_the_young(index: &mut gix::index::State, folder: &Path) {
    let certain = Certain::of(index, folder);
    for (entry, path) in index.entries_mut_with_paths() {
        if !certain.is(path, &entry.stat) {
            entry.stat = Stat::default();
        }
    }
}

/// Writes the index of `worktree`, whose lock is held, as `state` holds it; `seen` saves the next comparison from
/// reading files.
pub(crate) fn write(
    lock: &IndexLock,
    worktree: &gix::Repository,
    state: &Captured,
    seen: &Seen,
) -> Result<()> {
    let mut file = worktree
        .index_from_tree(&state.index)
        .git("read the index's tree")?;
    for (entry, path) in file.entries_mut_with_paths() {
        if let Some((stat, id, mode)) = seen.get(path)
            && *id == entry.id
            && *mode == entry.mode
        {
            entry.stat = *stat;
        }
    }
    let present = worktree.index_or_empty().git("read the index")?;
    finish(lock, worktree, file, state, &marks(&present))
}

/// Writes the index of `worktree` as `state` holds it, from `files`, the index of its files, and the paths by which the
/// index's tree differs from theirs, each with what it becomes. The entries get `marks`.
pub(crate) fn write_staged<'a>(
    worktree: &gix::Repository,
    mut files: gix::index::File,
    state: &Captured,
    changes: impl IntoIterator<Item = (&'a BStr, Option<(EntryKind, gix::ObjectId)>)>,
    marks: &Marks,
) -> Result<()> {
    let mut removed = HashSet::new();
    let mut added = Vec::new();
    for (path, becomes) in changes {
        let Some((kind, id)) = becomes else {
            removed.insert(path);
            continue;
        };
        match files.entry_mut_by_path_and_stage(path, Stage::Unconflicted) {
            Some(entry) => {
                entry.id = id;
                entry.mode = mode_of(kind);
                // What is on disk is something else.
                entry.stat = Stat::default();
            }
            None => added.push((path, mode_of(kind), id)),
        }
    }
    if !removed.is_empty() {
        files.remove_entries(|_, path, _| removed.contains(path));
    }
    for (path, mode, id) in added {
        files.dangerously_push_entry(Stat::default(), id, Flags::empty(), mode, path);
    }
    files.sort_entries();
    let lock = IndexLock::take(&worktree.index_path())?;
    finish(&lock, worktree, files, state, marks)
}

/// Writes `index`, which holds the tree of the index of `state`, with what that tree can't say, and with `marks`.
fn finish(
    lock: &IndexLock,
    worktree: &gix::Repository,
    mut index: gix::index::File,
    state: &Captured,
    marks: &Marks,
) -> Result<()> {
    add_what_trees_cannot_say(&mut index, state, worktree.object_hash());
    mark(&mut index, marks);
    let manifest = &state.manifest;
    let is_the_tree = manifest.stages.is_empty() && manifest.announced.is_empty();
    replace(lock, worktree, &index, is_the_tree.then_some(state.index))
}

fn add_what_trees_cannot_say(
    index: &mut gix::index::State,
    state: &Captured,
    hash: gix::hash::Kind,
) {
    let manifest = &state.manifest;
    if manifest.stages.is_empty() && manifest.announced.is_empty() {
        return;
    }
    let replaced = |path: &BStr| {
        manifest.stages.iter().any(|stage| stage.path == path)
            || manifest
                .announced
                .iter()
                .any(|announced| announced.path == path)
    };
    index.remove_entries(|_, path, _| replaced(path));
    for stage in &manifest.stages {
        let number = match stage.stage {
            1 => Stage::Base,
            2 => Stage::Ours,
            _ => Stage::Theirs,
        };
        let mode = Mode::from_bits_retain(stage.mode);
        let flags = Flags::from_stage(number);
        index.dangerously_push_entry(Stat::default(), stage.id, flags, mode, stage.path.as_ref());
    }
    for announced in &manifest.announced {
        let empty = gix::ObjectId::empty_blob(hash);
        let mode = Mode::from_bits_retain(announced.mode);
        let flags = Flags::INTENT_TO_ADD | Flags::EXTENDED;
        index.dangerously_push_entry(Stat::default(), empty, flags, mode, announced.path.as_ref());
    }
    index.sort_entries();
}

/// Writes `index`, which describes exactly what was checked out of `tree`, with `marks`.
pub(crate) fn write_as_is(
    worktree: &gix::Repository,
    mut index: gix::index::File,
    tree: gix::ObjectId,
    marks: &Marks,
) -> Result<()> {
    let lock = IndexLock::take(&worktree.index_path())?;
    mark(&mut index, marks);
    replace(&lock, worktree, &index, Some(tree))
}

/// The mode in an index for a kind of tree entry.
pub(crate) fn mode_of(kind: EntryKind) -> Mode {
    match kind {
        EntryKind::Tree => Mode::DIR,
        EntryKind::Blob => Mode::FILE,
        EntryKind::BlobExecutable => Mode::FILE_EXECUTABLE,
        EntryKind::Link => Mode::SYMLINK,
        EntryKind::Commit => Mode::COMMIT,
    }
}
