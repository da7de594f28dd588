use std::collections::BTreeMap;

use everruns_core::workspace::{EntryState, MergeConflict, StatusEntry, WorkspaceHeadStatus};

use super::lineage::Lineage;
use crate::memory::{Tree, changes};

/// How the files differ from the last commit.
pub(super) fn status(lineage: &Lineage, now: &Tree, archived: bool) -> WorkspaceHeadStatus {
    let changed = changes(&lineage.last.tree, now);
    let mut entries: Vec<StatusEntry> = changed
        .into_iter()
        .map(|change| StatusEntry {
            path: change.path.relative().to_owned(),
            staged: EntryState::Unmodified,
            unstaged: match (&change.before, &change.after) {
                (None, _) => EntryState::Untracked,
                (Some(_), None) => EntryState::Deleted,
                (Some(_), Some(_)) => EntryState::Modified,
            },
            original: None,
        })
        .collect();
    let conflicts = lineage.unfinished.iter().flat_map(|merge| &merge.conflicts);
    let conflicts: BTreeMap<&str, &MergeConflict> = conflicts
        .map(|conflict| (conflict.path.as_str(), conflict))
        .collect();
    if !conflicts.is_empty() {
        entries.retain(|entry| !conflicts.contains_key(entry.path.as_str()));
        entries.extend(conflicts.values().map(|conflict| unmerged(conflict)));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
    }
    WorkspaceHeadStatus {
        dirty: !entries.is_empty(),
        conflicted: !conflicts.is_empty(),
        archived,
        entries,
        ..WorkspaceHeadStatus::default()
    }
}

/// A conflict in Git's letters.
fn unmerged(conflict: &MergeConflict) -> StatusEntry {
    use EntryState::{Added, Deleted, Unmerged};
    let there = (
        conflict.base.is_some(),
        conflict.ours.is_some(),
        conflict.theirs.is_some(),
    );
    let (staged, unstaged) = match there {
        (true, true, true) => (Unmerged, Unmerged),
        (true, true, false) => (Unmerged, Deleted),
        (true, false, true) => (Deleted, Unmerged),
        (true, false, false) => (Deleted, Deleted),
        (false, true, true) => (Added, Added),
        (false, true, false) => (Added, Unmerged),
        (false, false, _) => (Unmerged, Added),
    };
    StatusEntry {
        path: conflict.path.clone(),
        staged,
        unstaged,
        original: None,
    }
}
