//! The entries that `git status` prints, in its own letters.

use std::collections::BTreeMap;

use everruns_core::workspace::{EntryState, StatusEntry};
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::diff::index::ChangeRef;
use gix::dir::entry::Kind;
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, Conflict, EntryStatus};

use crate::names::path_text;
use crate::scan::{Scan, path_of};

/// The two letters of an entry, before both sides have been seen.
struct Letters {
    staged: EntryState,
    unstaged: EntryState,
    original: Option<BString>,
}

impl Default for Letters {
    fn default() -> Self {
        Self {
            staged: EntryState::Unmodified,
            unstaged: EntryState::Unmodified,
            original: None,
        }
    }
}

/// The entries of `scan`, sorted by path, and whether any of them is in conflict.
pub(crate) fn entries(scan: &Scan) -> (Vec<StatusEntry>, bool) {
    let mut found: BTreeMap<BString, Letters> = BTreeMap::new();
    for change in &scan.staged {
        let letters = found.entry(change.location().to_owned()).or_default();
        letters.staged = staged(change);
        if let ChangeRef::Rewrite {
            source_location, ..
        } = change
        {
            letters.original = Some(source_location.to_vec().into());
        }
    }
    let mut conflicted = false;
    let mut untracked = Vec::new();
    for item in &scan.unstaged {
        let Some((staged, unstaged)) = unstaged(item) else {
            continue;
        };
        let path = path_of(item);
        if unstaged == EntryState::Untracked {
            // A path can be staged for deletion and there all the same: Git prints two lines.
            untracked.push(entry(path, unstaged, unstaged, None));
            continue;
        }
        let letters = found.entry(path.to_owned()).or_default();
        letters.unstaged = unstaged;
        if let Some(staged) = staged {
            letters.staged = staged;
            conflicted = true;
        }
    }
    let tracked = found.into_iter().map(|(path, letters)| {
        let Letters {
            staged,
            unstaged,
            original,
        } = letters;
        entry(path.as_bstr(), staged, unstaged, original)
    });
    let mut entries: Vec<StatusEntry> = tracked.chain(untracked).collect();
    entries.sort_by(|left, right| left.path.cmp(&right.path));
    (entries, conflicted)
}

fn entry(
    path: &BStr,
    staged: EntryState,
    unstaged: EntryState,
    original: Option<BString>,
) -> StatusEntry {
    StatusEntry {
        path: path_text(path),
        staged,
        unstaged,
        original: original.map(|path| path_text(path.as_bstr())),
    }
}

fn staged(change: &gix::diff::index::Change) -> EntryState {
    match change {
        ChangeRef::Addition { .. } => EntryState::Added,
        ChangeRef::Deletion { .. } => EntryState::Deleted,
        ChangeRef::Modification {
            previous_entry_mode,
            entry_mode,
            ..
        } => {
            use gix::index::entry::Mode;
            let kind = |mode: Mode| {
                if mode == Mode::FILE_EXECUTABLE {
                    Mode::FILE
                } else {
                    mode
                }
            };
            if kind(*previous_entry_mode) == kind(*entry_mode) {
                EntryState::Modified
            } else {
                EntryState::TypeChanged
            }
        }
        ChangeRef::Rewrite { copy: true, .. } => EntryState::Copied,
        ChangeRef::Rewrite { copy: false, .. } => EntryState::Renamed,
    }
}

/// The letter of the files' side, and that of the index's side where it follows from the same item.
///
/// `None` for what Git doesn't print.
fn unstaged(item: &Item) -> Option<(Option<EntryState>, EntryState)> {
    match item {
        Item::Modification { status, .. } => match status {
            EntryStatus::Conflict { summary, .. } => {
                let (ours, theirs) = conflict(*summary);
                Some((Some(ours), theirs))
            }
            EntryStatus::Change(Change::Removed) => Some((None, EntryState::Deleted)),
            EntryStatus::Change(Change::Type { .. }) => Some((None, EntryState::TypeChanged)),
            EntryStatus::Change(Change::Modification { .. } | Change::SubmoduleModification(_)) => {
                Some((None, EntryState::Modified))
            }
            EntryStatus::IntentToAdd => Some((None, EntryState::Added)),
            EntryStatus::NeedsUpdate(_) => None,
        },
        Item::DirectoryContents { entry, .. } => match entry.disk_kind {
            Some(Kind::File | Kind::Symlink | Kind::Repository | Kind::Directory) => {
                Some((None, EntryState::Untracked))
            }
            Some(Kind::Untrackable) | None => None,
        },
        Item::Rewrite { .. } => None,
    }
}

/// Git's letters for a conflict.
fn conflict(summary: Conflict) -> (EntryState, EntryState) {
    use EntryState::{Added, Deleted, Unmerged};
    match summary {
        Conflict::BothDeleted => (Deleted, Deleted),
        Conflict::AddedByUs => (Added, Unmerged),
        Conflict::DeletedByThem => (Unmerged, Deleted),
        Conflict::AddedByThem => (Unmerged, Added),
        Conflict::DeletedByUs => (Deleted, Unmerged),
        Conflict::BothAdded => (Added, Added),
        Conflict::BothModified => (Unmerged, Unmerged),
    }
}
