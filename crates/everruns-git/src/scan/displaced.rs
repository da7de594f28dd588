//! Executable files whose place something else has taken.
//!
//! The library's comparison takes whatever is at the path of an executable file for a file. It would follow a link,
//! out of the head as well, or wait for ever at a pipe. So these entries are kept from it, and told by us.

use std::fs;
use std::path::Path;

use gix::index::entry::{Flags, Mode, Stage};
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use crate::error::{GitStep as _, Result};

/// Looks for displaced entries of `index` in the working tree at `folder`, and takes back their claim to be looked at.
///
/// Returns them as the comparison would have told them. Entries that are known to be unchanged are passed over.
pub(super) fn find(index: &mut gix::index::State, folder: &Path) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    for (entry_index, entry) in index.entries().iter().enumerate() {
        if entry.mode != Mode::FILE_EXECUTABLE
            || entry.stage() != Stage::Unconflicted
            || entry.flags.contains(Flags::UPTODATE)
        {
            continue;
        }
        let rela_path = entry.path(index);
        let path = folder.join(gix::path::from_bstr(rela_path).git("convert a path")?);
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        if found.is_file() || found.is_dir() {
            continue;
        }
        let worktree_mode = if found.is_symlink() {
            Mode::SYMLINK
        } else {
            Mode::FILE
        };
        items.push(Item::Modification {
            entry: entry.clone(),
            entry_index,
            rela_path: rela_path.to_owned(),
            status: EntryStatus::Change(Change::Type { worktree_mode }),
        });
    }
    for item in &items {
        if let Item::Modification { entry_index, .. } = item {
            index.entries_mut()[*entry_index].flags |= Flags::SKIP_WORKTREE;
        }
    }
    Ok(items)
}
