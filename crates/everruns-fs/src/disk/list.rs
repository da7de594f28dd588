use everruns_core::file_system::{
    DirectoryEntry, DirectoryPage, FileSystemError, Hidden, PageRequest,
};
use everruns_core::path::WorkspacePath;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use super::errors::at;
use super::flags::LISTED_FOLDER;
use super::kind::file_stat;
use super::names::{escaped, is_git_name, is_hidden_from_tree};
use super::tree::Tree;

/// How many names are kept before those that the page cannot show are dropped.
const MIN_KEPT: usize = 1_000;

impl Tree {
    pub(super) fn list(
        &self,
        path: &WorkspacePath,
        page: &PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        self.enter_existing(path)?;
        let folder = self.open_at(path, LISTED_FOLDER, "open the folder")?;
        let limit = page.limit.max(1);
        let after = page.after.as_deref();
        let mut unrepresentable = Vec::new();
        // One name more than the page holds tells whether another page follows.
        let wanted = limit.saturating_add(1);
        let mut names = Vec::new();
        let mut hides = None;
        for_each_entry(&folder, path, |name, _| match std::str::from_utf8(name) {
            _ if is_hidden_from_tree(name) => hides = hides.max(Some(hidden(name))),
            Ok(name) if after.is_none_or(|after| name > after) => {
                names.push(name.to_owned());
                // Memory is bounded by the page, and sorting now and then costs little.
                if names.len() >= wanted.saturating_mul(2).max(MIN_KEPT) {
                    names.sort_unstable();
                    names.truncate(wanted);
                }
            }
            Err(_) if after.is_none() => unrepresentable.push(escaped(name)),
            Ok(_) | Err(_) => {}
        })?;
        names.sort_unstable();
        // An entry that is made anew meanwhile may come twice.
        names.dedup();
        let has_more = names.len() > limit;
        names.truncate(limit);
        let next = names.last().filter(|_| has_more).cloned();
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            match rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.push(DirectoryEntry {
                    name,
                    stat: file_stat(&stat),
                }),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(at(path, "look at an entry of")(errno)),
            }
        }
        unrepresentable.sort();
        Ok(DirectoryPage {
            entries,
            unrepresentable,
            next,
            hides,
        })
    }
}

fn hidden(name: &[u8]) -> Hidden {
    if is_git_name(name) {
        Hidden::Git
    } else {
        Hidden::Entries
    }
}

/// Calls `each` with the names in `folder` that are part of the tree, in no order.
pub(super) fn for_each_name(
    folder: &OwnedFd,
    path: &WorkspacePath,
    mut each: impl FnMut(&[u8], FileType),
) -> Result<(), FileSystemError> {
    for_each_entry(folder, path, |name, file_type| {
        if !is_hidden_from_tree(name) {
            each(name, file_type);
        }
    })
}

/// Calls `each` with all names in `folder` apart from `.` and `..`.
pub(super) fn for_each_entry(
    folder: impl AsFd,
    path: &WorkspacePath,
    mut each: impl FnMut(&[u8], FileType),
) -> Result<(), FileSystemError> {
    let failed = at(path, "list");
    for entry in Dir::read_from(folder).map_err(&failed)? {
        let entry = entry.map_err(&failed)?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(name, entry.file_type());
        }
    }
    Ok(())
}
