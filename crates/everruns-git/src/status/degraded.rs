//! What a head holds that this backend doesn't handle fully.

use everruns_core::workspace::DegradedFact;
use gix::bstr::BStr;
use gix::dir::entry::Kind;
use gix::index::entry::Mode;
use gix::status::index_worktree::Item;

use crate::error::{GitStep as _, Result};
use crate::files::Files;
use crate::head::Handle;
use crate::index::left_out;
use crate::names::path_text;
use crate::repository::is_partial_clone;
use crate::scan::{Scan, path_of};

use super::filters::filters;

/// The facts about the head of `handle`, opened as `worktree` and just seen as `scan`.
pub(crate) fn degraded(
    handle: &Handle,
    worktree: &gix::Repository,
    scan: &Scan,
) -> Result<Vec<DegradedFact>> {
    let mut facts = Vec::new();
    branch(handle, worktree, &mut facts);
    settings(worktree, &mut facts)?;
    submodules(handle, worktree, scan, &mut facts)?;
    uncaptured(scan, &mut facts);
    for path in &scan.closed {
        let detail =
            "it is in a folder that may not be looked into, or is one; checkpoints don't hold it";
        facts.push(fact("unreadable", Some(path.as_ref()), detail));
    }
    if !handle.context.opener.runs_filters() {
        filters(&handle.worktree().folder, worktree, scan, &mut facts)?;
    }
    Ok(facts)
}

/// A fact about `path`, or about the whole head.
pub(super) fn fact(kind: &str, path: Option<&BStr>, detail: impl Into<String>) -> DegradedFact {
    DegradedFact {
        kind: kind.to_owned(),
        path: path.map(path_text),
        detail: detail.into(),
    }
}

fn branch(handle: &Handle, worktree: &gix::Repository, facts: &mut Vec<DegradedFact>) {
    if let Err(failure) = handle.expect_own_branch(worktree) {
        facts.push(fact("branch-switched", None, failure.to_string()));
    }
}

fn settings(worktree: &gix::Repository, facts: &mut Vec<DegradedFact>) -> Result<()> {
    let config = worktree.config_snapshot();
    if config.boolean("core.sparseCheckout") == Some(true) {
        let index = worktree.index_or_empty().git("read the index")?;
        let detail = match left_out(&index).len() {
            0 => "the repository is set to a sparse checkout; this head has all files".to_owned(),
            number => format!("this head is a sparse checkout; {number} of its files are left out"),
        };
        facts.push(fact("sparse-checkout", None, detail));
    }
    if is_partial_clone(worktree) {
        let detail = "the repository is a partial clone; objects that it lacks are not fetched";
        facts.push(fact("partial-clone", None, detail));
    }
    if worktree.is_shallow().unwrap_or(false) {
        facts.push(fact(
            "shallow",
            None,
            "the repository is shallow; its history ends early",
        ));
    }
    Ok(())
}

/// Submodules whose folders hold no repository, and those whose repositories can't be looked at.
fn submodules(
    handle: &Handle,
    worktree: &gix::Repository,
    scan: &Scan,
    facts: &mut Vec<DegradedFact>,
) -> Result<()> {
    for submodule in &scan.unreadable {
        let detail = format!(
            "the submodule can't be looked at, and checkpoints don't hold it: {}",
            submodule.reason
        );
        let path = Some(submodule.path.as_ref());
        facts.push(fact("submodule-unreadable", path, detail));
    }
    let index = worktree.index_or_empty().git("read the index")?;
    let files = Files::open(&handle.worktree().folder)?;
    for entry in index
        .entries()
        .iter()
        .filter(|entry| entry.mode == Mode::COMMIT)
    {
        let path = entry.path(&index);
        let mut link = path.to_owned();
        link.extend_from_slice(b"/.git");
        if matches!(files.stat(link.as_ref()), Ok(None)) {
            let detail = "the submodule is not initialised in this head; its files are not there";
            facts.push(fact("submodule-not-initialised", Some(path), detail));
        }
    }
    Ok(())
}

fn uncaptured(scan: &Scan, facts: &mut Vec<DegradedFact>) {
    for item in &scan.unstaged {
        let Item::DirectoryContents { entry, .. } = item else {
            continue;
        };
        let (kind, detail) = match entry.disk_kind {
            Some(Kind::Repository) => (
                "nested-repository",
                "a repository of its own; checkpoints don't hold it",
            ),
            Some(Kind::Untrackable) => (
                "special-file",
                "a pipe, socket or device; checkpoints don't hold it",
            ),
            _ => continue,
        };
        facts.push(fact(kind, Some(path_of(item)), detail));
    }
}
