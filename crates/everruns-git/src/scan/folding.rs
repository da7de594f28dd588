//! What the index doesn't know, on file systems that fold names: found by the library.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use everruns_fs::disk::is_temporary_name;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::dir::entry::{Kind, Property, Status};
use gix::dir::walk::EmissionMode;

use super::untracked::Untracked;
use crate::error::{GitStep as _, Result};

/// As [`super::untracked::look`], where `a` and `A` are one name, or names come back in another form.
pub(super) fn look(worktree: &gix::Repository, index: &gix::worktree::Index) -> Result<Untracked> {
    let step = "look for untracked files";
    let never = Arc::new(AtomicBool::new(false));
    let options = worktree
        .dirwalk_options()
        .git(step)?
        .emit_untracked(EmissionMode::Matching)
        // Of what is pruned, the repositories are of interest.
        .emit_pruned(true);
    let items = worktree
        .dirwalk_iter(Arc::clone(index), None::<BString>, never.into(), options)
        .git(step)?;
    let mut found = Untracked::default();
    for item in items {
        let entry = item.git(step)?.entry;
        if let Some(folder) = nested_in(&entry) {
            found.nested.push(folder.to_owned());
            continue;
        }
        // The library takes a conflict of which our side is gone for untracked, and so it does a link in a submodule's
        // place. A repository in the place of a file is something else.
        let is_known = entry.disk_kind != Some(Kind::Repository)
            && index.entry_range(entry.rela_path.as_ref()).is_some();
        if is_shown(&entry) && !is_known {
            found.entries.push(entry);
        }
    }
    Ok(found)
}

/// The folder below the root that holds a repository of its own, if that is what the entry is.
fn nested_in(entry: &gix::dir::Entry) -> Option<&BStr> {
    if entry.status != Status::Pruned || entry.property != Some(Property::DotGit) {
        return None;
    }
    let at = entry.rela_path.rfind_byte(b'/')?;
    Some(entry.rela_path[..at].as_bstr())
}

/// Whether an entry is about the head's content, and not the temporary file of a write through its file system.
fn is_shown(entry: &gix::dir::Entry) -> bool {
    let name = entry
        .rela_path
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    entry.status == Status::Untracked && !is_temporary_name(&name.to_str_lossy())
}
