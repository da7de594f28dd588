//! Items for the entries whose files are not as the index says.

use gix::bstr::BStr;
use gix::index::Entry;
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use super::look::Purpose;
use super::tracked::Found;
use crate::error::Result;
use crate::index::mode_of;
use crate::worktree::{Entry as Read, Keep, read_each};

type Status = EntryStatus<(), gix::submodule::Status>;

/// The items for what was `found` of the entries of `index`, without those that were only touched.
///
/// Where they are going to be read anyway, all that were touched are told.
pub(super) fn items(
    worktree: &gix::Repository,
    index: &gix::index::State,
    found: &[(usize, Found)],
    purpose: Purpose,
) -> Result<Vec<Item>> {
    let mut items = Vec::with_capacity(found.len());
    let mut unread = Vec::new();
    for (number, found) in found {
        let status = match *found {
            Found::Unchanged | Found::Unclear | Found::Closed => continue,
            Found::Nothing => EntryStatus::Change(Change::Removed),
            Found::Announced => EntryStatus::IntentToAdd,
            Found::Other(worktree_mode) => EntryStatus::Change(Change::Type { worktree_mode }),
            Found::Touched { resized, .. } if !resized && !purpose.reads() => {
                unread.push((*number, *found));
                continue;
            }
            Found::Touched { .. } => modified(*found),
        };
        items.push(item(index, *number, status));
    }
    if unread.is_empty() {
        return Ok(items);
    }
    let wanted: Vec<_> = unread
        .iter()
        .map(|(number, _)| {
            let entry = &index.entries()[*number];
            (entry.path(index), entry)
        })
        .collect();
    let read = read_each(worktree, &wanted, Keep::Nowhere, |reader, (path, entry)| {
        reader.tracked(path, entry)
    })?;
    for ((number, found), read) in unread.into_iter().zip(read) {
        let entry = &index.entries()[number];
        let status = match read {
            Read::Blob(kind, id) if id == entry.id && mode_of(kind) == entry.mode => continue,
            Read::Blob(..) | Read::Uncaptured(_) => modified(found),
            Read::Gone | Read::Same => EntryStatus::Change(Change::Removed),
        };
        items.push(item(index, number, status));
    }
    Ok(items)
}

fn modified(found: Found) -> Status {
    EntryStatus::Change(Change::Modification {
        executable_bit_changed: matches!(
            found,
            Found::Touched {
                executable_bit_changed: true,
                ..
            }
        ),
        content_change: Some(()),
        set_entry_stat_size_zero: false,
    })
}

fn item(index: &gix::index::State, number: usize, status: Status) -> Item {
    let entry: &Entry = &index.entries()[number];
    let path: &BStr = entry.path(index);
    Item::Modification {
        entry: entry.clone(),
        entry_index: number,
        rela_path: path.to_owned(),
        status,
    }
}
