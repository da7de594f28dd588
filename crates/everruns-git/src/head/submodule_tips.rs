//! What the references of a submodule lead to, and which of it is elsewhere too.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;
use gix::url::Scheme;

use super::submodules::below;

/// What the references of a submodule lead to.
pub(super) struct Tips {
    /// Its own: `HEAD`, branches, tags and all others.
    pub(super) own: HashSet<ObjectId>,
    /// Those of its remotes that stay.
    pub(super) elsewhere: Vec<ObjectId>,
}

impl Tips {
    /// The tips of `submodule` as the folders `going` go; `None` if not all of them can be read.
    pub(super) fn of(submodule: &gix::Repository, going: &[PathBuf]) -> Option<Self> {
        let mut tips = Self {
            own: HashSet::new(),
            elsewhere: Vec::new(),
        };
        // What worktrees of its own have checked out would go as well.
        if !below(&submodule.common_dir().join("worktrees"))
            .ok()?
            .is_empty()
        {
            return None;
        }
        let head = submodule.head().ok()?;
        if !head.is_unborn() {
            tips.own.insert(submodule.head_id().ok()?.detach());
        }
        let remotes = remotes_that_stay(submodule, going);
        for reference in submodule.references().ok()?.all().ok()? {
            let mut reference = reference.ok()?;
            let name = reference.name().as_bstr().to_owned();
            let of_remote = name.starts_with(b"refs/remotes/");
            let stays = remotes.iter().any(|remote| name.starts_with(remote));
            match reference.peel_to_id() {
                Ok(tip) if stays => tips.elsewhere.push(tip.detach()),
                // Of a remote that goes as well or that nobody knows of, or of one whose default branch is gone.
                _ if of_remote => {}
                Ok(tip) => {
                    tips.own.insert(tip.detach());
                }
                Err(_) => return None,
            }
        }
        Some(tips)
    }
}

/// What the names of `submodule`'s branches of remotes start with, for the remotes that stay when the folders `going` go.
///
/// The library tells of no remote in a configuration that isn't trusted. This one is only read, never contacted.
fn remotes_that_stay(submodule: &gix::Repository, going: &[PathBuf]) -> Vec<BString> {
    let base = submodule.workdir().unwrap_or_else(|| submodule.git_dir());
    let stays = |url: &BStr| {
        let url = gix::url::parse(url).ok()?;
        if url.scheme != Scheme::File {
            return Some(true);
        }
        let path = base.join(gix::path::from_bstr(&url.path).ok()?);
        let real = fs::canonicalize(path).ok()?;
        Some(!going.iter().any(|folder| real.starts_with(folder)))
    };
    let config = submodule.config_snapshot();
    let sections = config.plumbing().sections_by_name("remote");
    sections
        .into_iter()
        .flatten()
        .filter_map(|section| {
            let name = section.header().subsection_name()?;
            let url = section.value("url")?;
            let stays = stays(url.as_ref()).unwrap_or(false);
            stays.then(|| format!("refs/remotes/{name}/").into())
        })
        .collect()
}

/// Takes from `wanted` what `tips` lead to in `submodule`; `true` if nothing is left.
pub(super) fn leads_to_all(
    submodule: &gix::Repository,
    tips: &[ObjectId],
    wanted: &mut HashSet<ObjectId>,
) -> bool {
    if tips.is_empty() {
        return false;
    }
    let newest = Sorting::ByCommitTime(CommitTimeOrder::NewestFirst);
    let walk = submodule.rev_walk(tips.iter().copied()).sorting(newest);
    let Ok(commits) = walk.all() else {
        return false;
    };
    for commit in commits {
        let Ok(commit) = commit else {
            return false;
        };
        wanted.remove(&commit.id);
        if wanted.is_empty() {
            return true;
        }
    }
    false
}
