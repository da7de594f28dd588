//! A branch brought into a head, as `git merge` does it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use everruns_core::failpoint::hit;
use everruns_core::workspace::{UpdateOutcome, UpdateRequest};
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use super::history::{merge_base, reference, tree_of};
use super::three_way::{Merged, Side, three_way};
use crate::advance::{self, Advance, MergeState, Trees, merging};
use crate::checkpoint;
use crate::commit::{Identity, clean};
use crate::error::{GitError, GitStep as _, Result};
use crate::files::Files;
use crate::head::{Handle, InUse, check_way, plan};
use crate::names::path_text;
use crate::repository::Refs;
use crate::scan::{Purpose, Scan, path_of, scan};

/// Brings the branch that `request` names into the head.
pub(crate) fn update(handle: &Handle, request: &UpdateRequest) -> Result<UpdateOutcome> {
    let _lock = handle.lock_whole()?;
    // Files change, so no turn may run on them.
    let _alone = InUse::alone(handle.layout(), &handle.record.id)?;
    let worktree = handle.open()?;
    handle.expect_own_branch(&worktree)?;
    let scan = scan(&worktree, Purpose::Compare)?;
    expect_no_conflict(&scan)?;
    if merging(&worktree)?.is_some() {
        return Err(GitError::UnderWay {
            operation: "merge".to_owned(),
        });
    }
    let update = Update {
        handle,
        worktree: &worktree,
        request,
        head: head_of(&worktree)?,
    };
    let tip = update.tip()?;
    let is_unborn = update.head.is_null();
    let base = if is_unborn {
        None
    } else {
        merge_base(&worktree, update.head, tip)?
    };
    if base == Some(tip) {
        return Ok(UpdateOutcome::UpToDate);
    }
    checkpoint::expect_no_checkpoints(
        &worktree,
        (&request.branch, tip),
        (&handle.record.branch, update.head),
    )?;
    if is_unborn || base == Some(update.head) {
        let to = tree_of(&worktree, tip)?;
        update.expect_way(&scan, to, true)?;
        update.go(tip, to, None, "Fast-forward")?;
        let revision = tip.to_string();
        return Ok(UpdateOutcome::FastForwarded { revision });
    }
    if base.is_none() {
        return Err(GitError::UnrelatedHistories {
            branch: request.branch.clone(),
        });
    }
    let ours = Side {
        commit: update.head,
        name: "HEAD",
    };
    let theirs = Side {
        commit: tip,
        name: &request.branch,
    };
    let merged = three_way(&worktree, ours, theirs)?;
    update.expect_way(&scan, merged.tree, false)?;
    if merged.conflicts.is_empty() {
        return update.join(tip, merged.tree);
    }
    if !merged.told_by_stages {
        let paths = merged.conflicts.into_iter().map(|conflict| conflict.path);
        return Err(GitError::InConflict {
            paths: paths.collect(),
        });
    }
    update.leave_conflicts(tip, merged)
}

/// The commit that `HEAD` names; the null id if its branch has none yet.
fn head_of(worktree: &gix::Repository) -> Result<ObjectId> {
    let head = worktree.head().git("read HEAD")?;
    Ok(head
        .id()
        .map_or_else(|| worktree.object_hash().null(), gix::Id::detach))
}

/// Fails if the head has conflicts of an earlier merge.
fn expect_no_conflict(scan: &Scan) -> Result<()> {
    let conflicts = scan.unstaged.iter().filter(|item| {
        matches!(
            item,
            Item::Modification {
                status: EntryStatus::Conflict { .. },
                ..
            }
        )
    });
    let paths: Vec<String> = conflicts.map(|item| path_text(path_of(item))).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(GitError::InConflict { paths })
    }
}

/// An update of a head that is at the commit `head`, or at the null id before its first one.
struct Update<'a> {
    handle: &'a Handle,
    worktree: &'a gix::Repository,
    request: &'a UpdateRequest,
    head: ObjectId,
}

impl Update<'_> {
    /// The commit of the branch, or of the remote's branch.
    fn tip(&self) -> Result<ObjectId> {
        let branch = &self.request.branch;
        let refs = Refs::new(self.worktree, self.handle.context.now());
        let named = reference(branch)?;
        // To be read, it may as well stand for another one.
        let local = refs.stands_for(&named)?.unwrap_or(named);
        let found = match refs.target(&local)? {
            Some(tip) => Some(tip),
            None => refs.target(&format!("refs/remotes/{branch}"))?,
        };
        found.ok_or_else(|| GitError::UnknownRevision {
            revision: branch.clone(),
        })
    }

    /// Fails if what is not committed would be overwritten by the files of the tree `to`.
    ///
    /// As Git does, a merge wants nothing staged at all, a mere step forward only not what it changes.
    fn expect_way(&self, scan: &Scan, to: ObjectId, forward: bool) -> Result<()> {
        let steps = plan(self.worktree, tree_of(self.worktree, self.head)?, to)?;
        let touched: BTreeSet<&BString> = steps.iter().map(|step| &step.path).collect();
        let staged = scan.staged.iter().map(gix::diff::index::Change::location);
        let mut lost: Vec<String> = staged
            .filter(|path| !forward || touched.contains(&(*path).to_owned()))
            .map(path_text)
            .collect();
        for item in &scan.unstaged {
            let path = path_of(item);
            let Item::Modification { status, .. } = item else {
                continue;
            };
            // Nothing is lost of a file that isn't there.
            let harmless = matches!(
                status,
                EntryStatus::NeedsUpdate(_) | EntryStatus::Change(Change::Removed)
            );
            if !harmless && touched.contains(&path.to_owned()) {
                lost.push(path_text(path));
            }
        }
        if lost.is_empty() {
            match check_way(&Files::open(&self.handle.worktree().folder)?, &steps) {
                Err(GitError::InTheWay { paths }) => lost = paths,
                outcome => outcome?,
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        lost.sort();
        lost.dedup();
        Err(GitError::LocalChanges { paths: lost })
    }

    /// Makes the commit with both parents, and goes there.
    fn join(&self, tip: ObjectId, tree: ObjectId) -> Result<UpdateOutcome> {
        let identity = Identity::of(self.worktree, self.request.author.as_ref())?;
        let message = clean(&self.message())?;
        let parents = [self.head, tip];
        let now = self.handle.context.now();
        let commit = identity.write(self.worktree, &message, tree, &parents, now)?;
        self.go(commit, tree, None, "Merge made by three-way merge")?;
        Ok(UpdateOutcome::Merged {
            revision: commit.to_string(),
        })
    }

    /// Leaves the conflicts in the files and the index.
    fn leave_conflicts(&self, tip: ObjectId, merged: Merged) -> Result<UpdateOutcome> {
        let conflicts = merged.conflicts.clone();
        self.go(self.head, merged.tree, Some((tip, merged)), "")?;
        Ok(UpdateOutcome::Conflicts(conflicts))
    }

    fn message(&self) -> String {
        let default = || {
            let (from, into) = (&self.request.branch, &self.handle.record.branch);
            format!("Merge branch '{from}' into {into}")
        };
        self.request.message.clone().unwrap_or_else(default)
    }

    /// Moves files, index and branch.
    fn go(
        &self,
        to: ObjectId,
        tree: ObjectId,
        conflicts: Option<(ObjectId, Merged)>,
        how: &str,
    ) -> Result<()> {
        hit("git.update.after-commit")?;
        self.handle.context.flushed.flush(self.worktree)?;
        hit("git.update.after-flush")?;
        let trees = Trees {
            from: tree_of(self.worktree, self.head)?,
            to: tree,
        };
        let place = self.handle.worktree();
        let (stages, merge) = match conflicts {
            None => (Vec::new(), MergeState::None),
            Some((head, merged)) => {
                let message = self.message_about(&merged);
                (merged.stages, MergeState::Begin { head, message })
            }
        };
        let advance = Advance {
            git_dir: place.record,
            folder: place.folder,
            branch: self.handle.record.branch_ref(),
            from: self.head,
            to,
            files: trees,
            index: trees,
            settled: Vec::new(),
            stages,
            merge,
            why: format!("merge {}: {how}", self.request.branch),
        };
        advance::run(self.handle, self.worktree, &advance)
    }

    /// The message of a merge that has to be concluded by hand, with Git's comment about the conflicts.
    fn message_about(&self, merged: &Merged) -> String {
        let mut message = self.message().trim_end().to_owned();
        message.push_str("\n\n# Conflicts:\n");
        let mut paths: Vec<&[u8]> = merged
            .stages
            .iter()
            .map(|stage| stage.path.as_bytes())
            .collect();
        paths.dedup();
        for path in paths {
            writeln!(message, "#\t{}", path.to_str_lossy().escape_debug())
                .expect("writing to a string can't fail");
        }
        message
    }
}
