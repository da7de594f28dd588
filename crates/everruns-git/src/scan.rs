//! One look at a working tree: how it differs from its index, and the index from the commit.

use everruns_fs::disk::is_temporary_name;
use gix::bstr::{BStr, ByteSlice as _};
use gix::dir::entry::{Kind, Status};
use gix::progress::Discard;
use gix::status::index_worktree;
use gix::status::tree_index::TrackRenames;
use gix::status::{Item, Submodule, UntrackedFiles};
use gix::submodule::config::Ignore;

use crate::error::{GitStep as _, Result};

/// Everything that differs, in the order of paths.
#[derive(Debug)]
pub(crate) struct Scan {
    /// How the index differs from the commit that `HEAD` names.
    pub(crate) staged: Vec<gix::diff::index::Change>,
    /// How the files differ from the index, untracked ones included.
    pub(crate) unstaged: Vec<index_worktree::Item>,
}

/// Whether renames between the commit and the index are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renames {
    /// As Git is configured to, for showing.
    Shown,
    /// No: every path by itself.
    Off,
}

/// Compares the files of `worktree` with its index, and the index with `HEAD`. Nothing is written.
pub(crate) fn scan(worktree: &gix::Repository, renames: Renames) -> Result<Scan> {
    let renames = match renames {
        Renames::Shown => TrackRenames::AsConfigured,
        Renames::Off => TrackRenames::Disabled,
    };
    let items = worktree
        .status(Discard)
        .git("prepare the comparison of files")?
        .untracked_files(UntrackedFiles::Files)
        // Pipes and the like are told only together with what is left out.
        .dirwalk_options(|options| options.emit_pruned(true))
        .index_worktree_rewrites(None)
        .index_worktree_submodules(Submodule::Given {
            ignore: Ignore::None,
            check_dirty: false,
        })
        .tree_index_track_renames(renames)
        .into_iter(None)
        .git("compare the files with the index")?;
    let mut scan = Scan {
        staged: Vec::new(),
        unstaged: Vec::new(),
    };
    for item in items {
        match item.git("compare the files with the index")? {
            Item::TreeIndex(change) => scan.staged.push(change),
            Item::IndexWorktree(change) if is_shown(&change) => scan.unstaged.push(change),
            Item::IndexWorktree(_) => {}
        }
    }
    scan.staged
        .sort_by(|left, right| left.location().cmp(right.location()));
    scan.unstaged
        .sort_by(|left, right| path_of(left).cmp(path_of(right)));
    Ok(scan)
}

/// Whether an item is about the head's content: not about what is left out of it, and not about the temporary file
/// of a write through the head's file system.
fn is_shown(item: &index_worktree::Item) -> bool {
    let index_worktree::Item::DirectoryContents { entry, .. } = item else {
        return true;
    };
    match entry.status {
        Status::Untracked => {
            let name = entry
                .rela_path
                .rsplit(|byte| *byte == b'/')
                .next()
                .unwrap_or_default();
            !is_temporary_name(&name.to_str_lossy())
        }
        Status::Pruned => entry.disk_kind == Some(Kind::Untrackable),
        _ => false,
    }
}

/// The path that an item is about.
pub(crate) fn path_of(item: &index_worktree::Item) -> &BStr {
    item.rela_path()
}
