//! Submodules whose repositories would go with a head, and work in them that is nowhere else.

use gix::ObjectId;
use gix::index::entry::Mode;

use crate::error::{GitStep as _, Result};
use crate::names::path_text;
use crate::scan::open_submodule;

/// The submodules of `worktree` with commits of which it can't be said that a remote of theirs has them.
///
/// Git keeps the repository of a linked worktree's submodule with the worktree's record, so it goes when that does.
pub(super) fn with_own_commits(worktree: &gix::Repository) -> Result<Vec<String>> {
    let index = worktree.index_or_empty().git("read the index")?;
    let Some(folder) = worktree.workdir() else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for entry in index.entries() {
        if entry.mode != Mode::COMMIT {
            continue;
        }
        let path = entry.path(&index);
        let below = folder.join(gix::path::from_bstr(path).git("convert a path")?);
        if std::fs::symlink_metadata(below.join(".git")).is_err() {
            continue;
        }
        let kept = open_submodule(worktree, &below)
            .is_some_and(|submodule| has_no_own_commits(&submodule, entry.id));
        if !kept {
            paths.push(path_text(path));
        }
    }
    Ok(paths)
}

/// Whether everything in the submodule is in a branch of a remote, or is the commit `recorded`.
fn has_no_own_commits(submodule: &gix::Repository, recorded: ObjectId) -> bool {
    let Some((own, remote)) = tips(submodule) else {
        return false;
    };
    own.iter().all(|tip| {
        *tip == recorded
            || remote.iter().any(|remote| {
                submodule
                    .merge_base(*tip, *remote)
                    .is_ok_and(|base| base.is_some_and(|base| base == *tip))
            })
    })
}

/// What the submodule's own references lead to, and what those of its remotes do; `None` if that can't be read.
fn tips(submodule: &gix::Repository) -> Option<(Vec<ObjectId>, Vec<ObjectId>)> {
    let (mut own, mut remote) = (Vec::new(), Vec::new());
    if let Ok(head) = submodule.head_id() {
        own.push(head.detach());
    }
    for reference in submodule.references().ok()?.all().ok()? {
        let mut reference = reference.ok()?;
        let of_remote = reference.name().as_bstr().starts_with(b"refs/remotes/");
        let is_tag = reference.name().as_bstr().starts_with(b"refs/tags/");
        let tip = reference.peel_to_id().ok()?.detach();
        match (of_remote, is_tag) {
            (true, _) => remote.push(tip),
            (_, true) => {}
            _ => own.push(tip),
        }
    }
    Some((own, remote))
}
