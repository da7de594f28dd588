//! An index changed in place: what isn't to change keeps its flags and what is known of its file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stage, Stat};
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::EntryStatus;

use super::Advance;
use crate::error::{GitStep as _, Result};
use crate::head::plan;
use crate::index::{self, Seen, mode_of};
use crate::scan::{Renames, scan};
use crate::state::path_text;

/// What becomes of the entries at each path.
type Changes = BTreeMap<BString, Option<(Mode, ObjectId)>>;

impl Advance {
    /// Changes the index of `worktree`; `seen` saves the next comparison from reading files.
    pub(super) fn change_index(&self, worktree: &gix::Repository, seen: &Seen) -> Result<()> {
        let changes = self.changes(worktree)?;
        let read = worktree.index_or_empty().git("read the index")?;
        let mut index = (**read).clone();
        let in_conflict = |path: &BString| self.stages.iter().any(|stage| stage.path == *path);
        let replaced: BTreeSet<&BString> = changes
            .keys()
            .chain(self.stages.iter().map(|stage| &stage.path))
            .collect();
        index.remove_entries(|_, path, _| replaced.contains(&path.to_owned()));
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
        index::replace(worktree, &index, None)
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

/// Notes in the index which of its entries' files are as it says, so that later comparisons need not read them.
///
/// A file changed just now is left for the next time: it could be changed again within the same tick of the clock.
pub(crate) fn refresh(worktree: &gix::Repository, now_millis: i64) -> Result<()> {
    let index = worktree.index_or_empty().git("read the index")?;
    let now = u64::try_from(now_millis).unwrap_or(0);
    let young = UNIX_EPOCH + Duration::from_millis(now.saturating_sub(SETTLED_AFTER));
    let settled = |stat: &Stat| {
        let since = Duration::new(u64::from(stat.mtime.secs), stat.mtime.nsecs);
        UNIX_EPOCH + since < young
    };
    let mut own = None;
    for item in scan(worktree, Renames::Off)?.unstaged {
        if let Item::Modification {
            entry_index,
            status: EntryStatus::NeedsUpdate(stat),
            ..
        } = item
            && settled(&stat)
        {
            let own = own.get_or_insert_with(|| (**index).clone());
            own.entries_mut()[entry_index].stat = stat;
        }
    }
    match own {
        Some(own) => index::replace(worktree, &own, None),
        None => Ok(()),
    }
}

/// How old a change to a file has to be, in milliseconds, to be told from the next one by its time.
const SETTLED_AFTER: u64 = 100;
