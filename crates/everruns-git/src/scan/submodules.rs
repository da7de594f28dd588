//! Submodules, compared with what the index says of them.
//!
//! The library would open a submodule's repository with all the trust that its owner's files deserve, and so run filters
//! that anybody who can write into the head has named. So submodules are kept from it, and opened with none.

use std::path::Path;

use gix::bstr::{BStr, BString};
use gix::index::entry::{Mode, Stage};
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};
use gix::submodule::Status;

use super::look::{Purpose, scan_at};
use super::place::{Place, open};
use crate::error::Result;
use crate::files::Files;

/// How deep submodules in submodules are looked at.
pub(crate) const DEEPEST: usize = 8;

/// A submodule that can't be looked at.
#[derive(Debug, Clone)]
pub(crate) struct Unreadable {
    /// Its path.
    pub(crate) path: BString,
    /// Why.
    pub(crate) reason: String,
}

/// What was found of the submodules in a working tree.
#[derive(Debug, Default)]
pub(super) struct Submodules {
    /// Those that differ from the index.
    pub(super) changed: Vec<Item>,
    /// Those of which that can't be told, or not all of it.
    pub(super) unreadable: Vec<Unreadable>,
}

/// What a look into a submodule shows.
enum Inside {
    Clean,
    /// One change is enough to tell that there are some.
    Changed(Box<gix::status::Item>),
    Unreadable(String),
}

/// Looks at the submodules in the working tree at `folder`. None that is broken keeps the others from being seen.
pub(super) fn look(
    worktree: &gix::Repository,
    index: &gix::index::State,
    folder: &Path,
    depth: usize,
) -> Result<Submodules> {
    let mut found = Submodules::default();
    let is_submodule = |entry: &gix::index::Entry| entry.mode == Mode::COMMIT;
    if !index.entries().iter().any(is_submodule) {
        return Ok(found);
    }
    let files = Files::open(folder)?;
    for (entry_index, entry) in index.entries().iter().enumerate() {
        if !is_submodule(entry) || entry.stage() != Stage::Unconflicted {
            continue;
        }
        let path = entry.path(index);
        let mut unreadable = |reason| {
            found.unreadable.push(Unreadable {
                path: path.to_owned(),
                reason,
            });
        };
        let submodule = match open(worktree, &files, path) {
            // What took the place of a folder is seen by the comparison of files.
            Place::Nothing => continue,
            Place::Unusable(reason) => {
                unreadable(reason);
                continue;
            }
            Place::Repository(submodule) => submodule,
        };
        let head = submodule.head_id().ok().map(gix::Id::detach);
        let changes = match inside(&submodule, depth + 1) {
            Inside::Clean => None,
            Inside::Changed(change) => Some(*change),
            Inside::Unreadable(reason) => {
                unreadable(reason);
                None
            }
        };
        if changes.is_none() && head == Some(entry.id) {
            continue;
        }
        found
            .changed
            .push(modification(entry, entry_index, path, head, changes));
    }
    Ok(found)
}

fn modification(
    entry: &gix::index::Entry,
    entry_index: usize,
    path: &BStr,
    head: Option<gix::ObjectId>,
    changes: Option<gix::status::Item>,
) -> Item {
    let status = Status {
        index_id: Some(entry.id),
        checked_out_head_id: head,
        changes: Some(changes.into_iter().collect()),
        ..Status::default()
    };
    Item::Modification {
        entry: entry.clone(),
        entry_index,
        rela_path: path.to_owned(),
        status: EntryStatus::Change(Change::SubmoduleModification(status)),
    }
}

/// A change of the files or the index of `submodule`, untracked files included.
fn inside(submodule: &gix::Repository, depth: usize) -> Inside {
    if depth > DEEPEST {
        return Inside::Unreadable("it is too deep in other submodules".to_owned());
    }
    let scan = match scan_at(submodule, Purpose::Compare, depth) {
        Ok(scan) => scan,
        Err(failure) => return Inside::Unreadable(failure.to_string()),
    };
    let staged = scan.staged.into_iter().map(gix::status::Item::TreeIndex);
    let unstaged = scan.unstaged.into_iter().filter(|item| match item {
        Item::Modification { status, .. } => !matches!(status, EntryStatus::NeedsUpdate(_)),
        Item::DirectoryContents { entry, .. } => entry
            .disk_kind
            .is_some_and(|kind| kind != gix::dir::entry::Kind::Untrackable),
        Item::Rewrite { .. } => false,
    });
    let mut changes = staged.chain(unstaged.map(gix::status::Item::IndexWorktree));
    match (changes.next(), scan.unreadable.into_iter().next()) {
        (Some(change), _) => Inside::Changed(Box::new(change)),
        (None, Some(below)) => {
            Inside::Unreadable(format!("{} in it: {}", below.path, below.reason))
        }
        (None, None) => Inside::Clean,
    }
}
