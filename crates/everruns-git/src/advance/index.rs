//! An index changed in place: what isn't to change keeps its flags and what is known of its file.

use std::collections::{BTreeMap, BTreeSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::Entry;
use gix::index::entry::{Flags, Mode, Stage, Stat};

use super::Advance;
use crate::error::{GitStep as _, Result};
use crate::head::plan;
use crate::index::{self, IndexLock, Seen, mode_of};
use crate::state::path_text;

/// What becomes of the entries at each path.
type Changes = BTreeMap<BString, Option<(Mode, ObjectId)>>;

impl Advance {
    /// Changes the index of `worktree`, whose lock is held; `seen` saves the next comparison from reading files.
    pub(super) fn change_index(
        &self,
        lock: &IndexLock,
        worktree: &gix::Repository,
        seen: &Seen,
    ) -> Result<()> {
        let changes = self.changes(worktree)?;
        let read = worktree.index_or_empty().git("read the index")?;
        let mut index = (**read).clone();
        index::forget_the_young(&mut index, &self.folder);
        let in_conflict = |path: &BString| self.stages.iter().any(|stage| stage.path == *path);
        let replaced: BTreeSet<&BStr> = changes
            .keys()
            .chain(self.stages.iter().map(|stage| &stage.path))
            .map(|path| path.as_bstr())
            .collect();
        index.remove_entries(|_, path, _| replaced.contains(path));
        for (path, becomes) in &changes {
            let Some((mode, id)) = becomes.filter(|_| !in_conflict(path)) else {
                continue;
            };
            let stat = seen
                .get(path)
                .filter(|(_, seen_id, seen_mode)| (*seen_id, *seen_mode) == (id, mode))
                .map_or_else(Stat::default, |(stat, ..)| *stat);
            index.dangerously_push_entry(stat, id, Flags::empty(), mode, path.as_bstr());
        }
        for stage in &self.stages {
            let number = match stage.stage {
                1 => Stage::Base,
                2 => Stage::Ours,
                _ => Stage::Theirs,
            };
            let mode = Mode::from_bits_retain(stage.mode);
            let flags = Flags::from_stage(number);
            let path = stage.path.as_bstr();
            index.dangerously_push_entry(Stat::default(), stage.id, flags, mode, path);
        }
        index.sort_entries();
        // It would vouch for trees that are none any more.
        index.remove_tree();
        index.remove_resolve_undo();
        let tree = self.index.to;
        let exact = self.stages.is_empty() && is_exactly(worktree, &index, tree)?;
        index::replace(lock, worktree, &index, exact.then_some(tree))
    }

    fn changes(&self, worktree: &gix::Repository) -> Result<Changes> {
        let mut changes = Changes::new();
        if self.index.from != self.index.to {
            for step in plan(worktree, self.index.from, self.index.to)? {
                let becomes = step.becomes.map(|(kind, id)| (mode_of(kind), id));
                changes.insert(step.path, becomes);
            }
        }
        let step = "read the tree of the index";
        let tree = worktree.find_tree(self.index.to).git(step)?;
        for path in &self.settled {
            let path = BString::from(path_text::decode(path).unwrap_or_default());
            let found = tree
                .lookup_entry(path.split(|byte| *byte == b'/'))
                .git(step)?;
            let becomes = found
                .filter(|entry| !entry.mode().is_tree())
                .map(|entry| (mode_of(entry.mode().kind()), entry.object_id()));
            changes.insert(path, becomes);
        }
        Ok(changes)
    }
}

/// Whether `index` holds the tree, and nothing besides. Only then may it vouch for it.
pub(super) fn is_exactly(
    worktree: &gix::Repository,
    index: &gix::index::State,
    tree: ObjectId,
) -> Result<bool> {
    let expected = worktree
        .index_from_tree(&tree)
        .git("read the tree of the index")?;
    let same = |(one, other): (&Entry, &Entry)| {
        one.id == other.id
            && one.mode == other.mode
            && one.stage() == Stage::Unconflicted
            && !one.flags.contains(Flags::INTENT_TO_ADD)
            && one.path(index) == other.path(&expected)
    };
    let (found, wanted) = (index.entries(), expected.entries());
    Ok(found.len() == wanted.len() && found.iter().zip(wanted).all(same))
}
