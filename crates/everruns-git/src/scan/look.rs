//! The comparison.

use std::borrow::Cow;
use std::path::Path;

use gix::bstr::{BStr, BString};
use gix::diff::index::ChangeRef;
use gix::index::entry::Flags;
use gix::progress::Discard;
use gix::status::index_worktree;
use gix::status::tree_index::TrackRenames;
use gix::status::{Item, Submodule, UntrackedFiles};
use gix::submodule::config::Ignore;
use gix::worktree::IndexPersistedOrInMemory;

use super::submodules::Unreadable;
use super::{folding, submodules, touched, tracked, untracked};
use crate::error::{GitError, GitStep as _, Result};

/// Everything that differs, in the order of paths.
#[derive(Debug)]
pub(crate) struct Scan {
    /// How the index differs from the commit that `HEAD` names.
    pub(crate) staged: Vec<gix::diff::index::Change>,
    /// How the files differ from the index, untracked ones included.
    pub(crate) unstaged: Vec<index_worktree::Item>,
    /// Submodules of which it can't be told, or not wholly, how they differ.
    pub(crate) unreadable: Vec<Unreadable>,
    /// Folders with files that the index knows, in which there is a repository as well.
    pub(crate) nested: Vec<BString>,
    /// Folders that may not be looked into, and paths of the index in such folders. Git warns of them and goes on.
    pub(crate) closed: Vec<BString>,
}

/// What a look is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// For showing: renames between the commit and the index are looked for, as Git is configured to.
    Show,
    /// To know what must not be overwritten, every path by itself.
    Compare,
    /// To read what is to be kept, every path by itself: files that were only touched are told as well.
    Keep,
    /// The same of a folder that was moved away from where its submodules say that they are: they are passed over.
    KeepAway,
    /// The same of what Git would commit.
    Commit,
}

impl Purpose {
    /// Whether files are passed over of which the index says that they don't count: `git update-index
    /// --assume-unchanged` or `--skip-worktree`. That is no reason to lose them.
    pub(super) fn believes_marks(self) -> bool {
        matches!(self, Self::Show | Self::Commit)
    }

    /// Whether what may have changed is going to be read anyway.
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::Keep | Self::KeepAway | Self::Commit)
    }
}

/// Compares the files of `worktree` with its index, and the index with `HEAD`. Nothing is written.
pub(crate) fn scan(worktree: &gix::Repository, purpose: Purpose) -> Result<Scan> {
    scan_at(worktree, purpose, 0)
}

/// As [`scan`], of a repository that is a submodule so many times over.
pub(super) fn scan_at(worktree: &gix::Repository, purpose: Purpose, depth: usize) -> Result<Scan> {
    let index = worktree.index_or_empty().git("read the index")?;
    if index.is_sparse() {
        return Err(GitError::Unsupported {
            path: worktree.git_dir().to_owned(),
            reason: "its index is sparse; `git sparse-checkout reapply --no-sparse-index` makes it a whole one",
        });
    }
    let folder = folder_of(worktree)?;
    let mut marked = (**index).clone();
    let rules = tracked::Rules::of(worktree, &index, purpose)?;
    let folds_names = folds_names(worktree)?;
    // Untracked files are looked for by a walk of our own: Git's comparison leaves out pipes and the like, and what a
    // checkpoint can't hold has to be told.
    let (told, untracked) = tracked::look(rules, &mut marked, folder, || {
        if folds_names {
            folding::look(worktree, &index)
        } else {
            untracked::look(worktree, &index, folder)
        }
    })?;
    let untracked = untracked?;
    let is_head_tree = is_head_tree(worktree, &index)?;
    let is_passed_over = |entry: &gix::index::Entry| entry.flags.intersects(tracked::DONE);
    // Preparing the library's comparison costs more than it would take to find nothing.
    let nothing_to_compare = is_head_tree && marked.entries().iter().all(is_passed_over);
    let mut scan = Scan {
        staged: Vec::new(),
        unstaged: touched::items(worktree, &index, &told, purpose)?,
        unreadable: Vec::new(),
        nested: Vec::new(),
        closed: untracked.closed,
    };
    let closed = told
        .iter()
        .filter(|(_, found)| *found == tracked::Found::Closed);
    let closed = closed.map(|(number, _)| index.entries()[*number].path(&index).to_owned());
    scan.closed.extend(closed);
    scan.closed.sort_unstable();
    if purpose != Purpose::KeepAway {
        let found = submodules::look(worktree, &index, folder, depth)?;
        scan.unstaged.extend(found.changed);
        scan.unreadable = found.unreadable;
    }
    if !nothing_to_compare {
        compare(worktree, marked, is_head_tree, purpose, &mut scan)?;
    }
    scan.nested = untracked.nested;
    scan.unstaged
        .extend(untracked.entries.into_iter().map(|entry| {
            index_worktree::Item::DirectoryContents {
                entry,
                collapsed_directory_status: None,
            }
        }));
    scan.staged
        .extend(announced_over(worktree, &scan.unstaged)?);
    scan.staged
        .sort_by(|left, right| left.location().cmp(right.location()));
    scan.unstaged
        .sort_by(|left, right| path_of(left).cmp(path_of(right)));
    Ok(scan)
}

/// Adds to `scan` how the files differ from the index `marked`, and the index from `HEAD` unless it is that tree.
fn compare(
    worktree: &gix::Repository,
    marked: gix::index::File,
    is_head_tree: bool,
    purpose: Purpose,
    scan: &mut Scan,
) -> Result<()> {
    let renames = match purpose {
        Purpose::Show => TrackRenames::AsConfigured,
        _ => TrackRenames::Disabled,
    };
    let comparison = worktree
        .status(Discard)
        .git("prepare the comparison of files")?
        .index(IndexPersistedOrInMemory::InMemory(marked))
        .untracked_files(UntrackedFiles::None)
        .index_worktree_rewrites(None)
        .index_worktree_submodules(Submodule::Given {
            // They are compared by ourselves.
            ignore: Ignore::All,
            check_dirty: false,
        })
        .tree_index_track_renames(renames);
    let step = "compare the files with the index";
    if is_head_tree {
        for item in comparison.into_index_worktree_iter(None).git(step)? {
            scan.unstaged.push(item.git(step)?);
        }
        return Ok(());
    }
    for item in comparison.into_iter(None).git(step)? {
        match item.git(step)? {
            Item::TreeIndex(change) => scan.staged.push(change),
            Item::IndexWorktree(change) => scan.unstaged.push(change),
        }
    }
    Ok(())
}

/// Whether the index says itself that its entries make exactly the tree of `HEAD`.
///
/// Whoever changes an index takes that back, and Git relies on it too; so there is nothing to compare then.
fn is_head_tree(worktree: &gix::Repository, index: &gix::index::State) -> Result<bool> {
    let head = worktree.head_tree_id_or_empty().git("read HEAD")?;
    let tree = index.tree();
    Ok(tree.is_some_and(|tree| tree.num_entries.is_some() && head == tree.id))
}

/// The deletions behind announced paths.
///
/// A path that was removed from the index and then only announced again is gone from the next commit, which the
/// comparison of the index with `HEAD` leaves out.
fn announced_over(
    worktree: &gix::Repository,
    unstaged: &[index_worktree::Item],
) -> Result<Vec<gix::diff::index::Change>> {
    let step = "compare the index with HEAD";
    let announced = unstaged.iter().filter_map(|item| match item {
        index_worktree::Item::Modification {
            entry, rela_path, ..
        } if entry.flags.contains(Flags::INTENT_TO_ADD) => Some(rela_path),
        _ => None,
    });
    let mut deletions = Vec::new();
    for path in announced {
        let tree = worktree.head_tree_id_or_empty().git(step)?;
        let tree = worktree.find_tree(tree).git(step)?;
        let components = path.split(|byte| *byte == b'/');
        if let Some(found) = tree.lookup_entry(components).git(step)? {
            deletions.push(ChangeRef::Deletion {
                location: Cow::Owned(path.clone()),
                index: 0,
                entry_mode: found.mode().into(),
                id: Cow::Owned(found.object_id()),
            });
        }
    }
    Ok(deletions)
}

/// Whether the file system of `worktree` takes several names for one, or changes them.
fn folds_names(worktree: &gix::Repository) -> Result<bool> {
    let step = "prepare the comparison of files";
    let capabilities = worktree.filesystem_options().git(step)?;
    Ok(capabilities.ignore_case || capabilities.precompose_unicode)
}

/// The folder of `worktree`.
fn folder_of(worktree: &gix::Repository) -> Result<&Path> {
    worktree.workdir().ok_or_else(|| GitError::Unsupported {
        path: worktree.git_dir().to_owned(),
        reason: "its record names no folder",
    })
}

/// The path that an item is about.
pub(crate) fn path_of(item: &index_worktree::Item) -> &BStr {
    item.rela_path()
}
