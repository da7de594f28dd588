//! What the changed files of a working tree become as objects.

use gix::dir::entry::Kind;
use gix::objs::tree::EntryKind;
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use crate::error::Result;
use crate::scan::path_of;
use crate::worktree::{Entry, Keep, Reader, Why, read_each};

/// What each of `items` becomes, in their order, as an object of the repository of `worktree`.
pub(super) fn read_all(
    worktree: &gix::Repository,
    items: &[Item],
    keep: Keep,
) -> Result<Vec<Entry>> {
    read_each(worktree, items, keep, entry)
}

/// What the path of `item` becomes.
fn entry(reader: &mut Reader<'_>, item: &Item) -> Result<Entry> {
    let path = path_of(item);
    match item {
        Item::Modification { entry, status, .. } => match status {
            EntryStatus::NeedsUpdate(_) => Ok(Entry::Same),
            EntryStatus::Change(Change::Removed) => Ok(Entry::Gone),
            EntryStatus::Change(Change::SubmoduleModification(submodule)) => {
                Ok(match submodule.checked_out_head_id {
                    Some(id) => Entry::Blob(EntryKind::Commit, id),
                    None => Entry::Same,
                })
            }
            _ => reader.tracked(path, entry),
        },
        Item::DirectoryContents { entry, .. } => match entry.disk_kind {
            Some(Kind::File | Kind::Symlink) => reader.file(path, false, &|_| false),
            Some(Kind::Repository) => Ok(Entry::Uncaptured(Why::Repository)),
            Some(Kind::Untrackable) => Ok(Entry::Uncaptured(Why::Special)),
            Some(Kind::Directory) | None => Ok(Entry::Same),
        },
        // Renames are not looked for, so there are none.
        Item::Rewrite { .. } => Ok(Entry::Same),
    }
}
