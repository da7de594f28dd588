//! Submodules, compared with what the index says of them.
//!
//! The library would open a submodule's repository with all the trust that its owner's files deserve, and so run filters
//! that anybody who can write into the head has named. So submodules are kept from it, and opened as everything else is.

use std::path::Path;

use gix::index::entry::{Mode, Stage};
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};
use gix::submodule::Status;

use super::look::{Renames, scan_at};
use crate::error::{GitStep as _, Result};

/// How deep submodules in submodules are looked at.
const DEEPEST: usize = 8;

/// The submodules in the working tree at `folder` that differ from `index`.
pub(super) fn changed(
    worktree: &gix::Repository,
    index: &gix::index::State,
    folder: &Path,
    depth: usize,
) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    if depth >= DEEPEST {
        return Ok(items);
    }
    for (entry_index, entry) in index.entries().iter().enumerate() {
        if entry.mode != Mode::COMMIT || entry.stage() != Stage::Unconflicted {
            continue;
        }
        let path = entry.path(index);
        let below = folder.join(gix::path::from_bstr(path).git("convert a path")?);
        let Some(submodule) = open(worktree, &below) else {
            continue;
        };
        let head = submodule.head_id().ok().map(gix::Id::detach);
        // One change is enough to tell that there are some.
        let changes = first_change(&submodule, depth + 1)?;
        if changes.is_none() && head == Some(entry.id) {
            continue;
        }
        let status = Status {
            index_id: Some(entry.id),
            checked_out_head_id: head,
            changes: Some(changes.into_iter().collect()),
            ..Status::default()
        };
        items.push(Item::Modification {
            entry: entry.clone(),
            entry_index,
            rela_path: path.to_owned(),
            status: EntryStatus::Change(Change::SubmoduleModification(status)),
        });
    }
    Ok(items)
}

/// The repository of the submodule in `folder`, trusted as little as the one that it is in; `None` if there is none.
pub(crate) fn open(worktree: &gix::Repository, folder: &Path) -> Option<gix::Repository> {
    std::fs::symlink_metadata(folder.join(".git")).ok()?;
    let options = worktree
        .open_options()
        .clone()
        .open_path_as_is(false)
        .with(worktree.git_dir_trust());
    let opened = gix::open_opts(folder, options).ok()?;
    // Its configuration could send us elsewhere.
    let real = std::fs::canonicalize(opened.workdir()?).ok()?;
    (real == std::fs::canonicalize(folder).ok()?).then_some(opened)
}

/// A change of the files or the index of `submodule`, untracked files included.
fn first_change(submodule: &gix::Repository, depth: usize) -> Result<Option<gix::status::Item>> {
    let scan = scan_at(submodule, Renames::Off, depth)?;
    let staged = scan.staged.into_iter().map(gix::status::Item::TreeIndex);
    let unstaged = scan.unstaged.into_iter().filter(|item| match item {
        Item::Modification { status, .. } => !matches!(status, EntryStatus::NeedsUpdate(_)),
        Item::DirectoryContents { entry, .. } => entry
            .disk_kind
            .is_some_and(|kind| kind != gix::dir::entry::Kind::Untrackable),
        Item::Rewrite { .. } => false,
    });
    let mut changes = staged.chain(unstaged.map(gix::status::Item::IndexWorktree));
    Ok(changes.next())
}
