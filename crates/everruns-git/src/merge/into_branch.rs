//! A head's work in a branch that moves by compare-and-swap.

use everruns_core::failpoint::hit;
use everruns_core::workspace::{MergeOutcome, MergeRequest, MergeStrategy};
use gix::ObjectId;

use super::checked_out::{is_to_be_born, places};
use super::follow::Follower;
use super::history::{contains, merge_base, reference, tree_of};
use super::three_way::{Side, three_way, told};
use crate::advance::{self, Advance, MergeState, Trees, expect_storable};
use crate::checkpoint::{self, Captured};
use crate::commit::{Identity, clean};
use crate::error::{GitError, Result};
use crate::flush::flush_reference;
use crate::head::Handle;
use crate::repository::Refs;
use crate::state::Lock;

/// Merges the present state of the head into a branch.
///
/// A worktree that has the branch checked out follows if nothing has been changed there; else nothing is changed at
/// all.
pub(crate) fn merge(handle: &Handle, request: &MergeRequest) -> Result<MergeOutcome> {
    let _lock = handle.lock_whole()?;
    let worktree = handle.open()?;
    let reference = reference(&request.branch)?;
    let layout = handle.layout();
    let _branches = Lock::acquire(&layout.branches_lock(&handle.workspace.id), &request.branch)?;
    let refs = Refs::new(&worktree, handle.context.now());
    if let Some(target) = refs.stands_for(&reference)? {
        return Err(GitError::SymbolicBranch {
            branch: request.branch.clone(),
            target,
        });
    }
    // While its index is locked, nobody moves the branch together with the worktree that has it.
    let follower = follower(handle, &worktree, request, &reference)?;
    let tip = match refs.target(&reference)? {
        Some(tip) => tip,
        None if is_to_be_born(&worktree, &reference)? => worktree.object_hash().null(),
        None => {
            return Err(GitError::UnknownRevision {
                revision: request.branch.clone(),
            });
        }
    };
    let captured = checkpoint::capture(&worktree)?;
    if !captured.manifest.stages.is_empty() {
        let head = &handle.record.branch;
        let mut conflicts = told(&captured.manifest.stages, head, "what was merged into it");
        for conflict in &mut conflicts {
            conflict
                .detail
                .insert_str(0, "not resolved in the head itself: ");
        }
        return Ok(MergeOutcome::Conflicts(conflicts));
    }
    if captured.commit().is_none() && captured.files == captured.head_tree {
        return Err(GitError::NothingToMerge {
            id: handle.record.id.clone(),
        });
    }
    if let Some(head) = captured.commit()
        && request.strategy != MergeStrategy::Squash
    {
        let from = (handle.record.branch.as_str(), head);
        checkpoint::expect_no_checkpoints(&worktree, from, (&request.branch, tip))?;
    }
    expect_storable(&worktree, &captured)?;
    let merging = Merging {
        handle,
        worktree: &worktree,
        request,
        captured: &captured,
    };
    let new = match merging.result(tip)? {
        Outcome::Commit(new) => new,
        Outcome::Nothing(outcome) => return Ok(outcome),
    };
    hit("git.merge.after-commit")?;
    handle.context.flushed.flush(&worktree)?;
    hit("git.merge.after-flush")?;
    if let Some(follower) = follower {
        merging.follow(&follower, &reference, tip, new)?;
    } else {
        let why = "merge head";
        let outcome = if tip.is_null() {
            refs.create(&reference, new, why)
        } else {
            refs.swap(&reference, tip, new, why)
        };
        outcome.map_err(|failure| moved(failure, &request.branch))?;
        flush_reference(worktree.common_dir(), &reference)?;
    }
    Ok(MergeOutcome::Merged {
        revision: new.to_string(),
    })
}

/// The worktree that has to follow, if the branch is checked out.
fn follower(
    handle: &Handle,
    worktree: &gix::Repository,
    request: &MergeRequest,
    reference: &str,
) -> Result<Option<Follower>> {
    let mut places = places(worktree, reference)?;
    // One that can't follow decides.
    places.sort_by_key(|place| place.held.is_some());
    let Some(place) = places.pop() else {
        return Ok(None);
    };
    let refuse = |reason| {
        Err(GitError::BranchCheckedOut {
            branch: request.branch.clone(),
            worktree: place.folder.clone(),
            reason,
            files: Vec::new(),
        })
    };
    if let Some(reason) = place.held {
        return refuse(reason);
    }
    if place.git_dir == handle.worktree().record {
        return refuse("it is the head's own branch; commit instead");
    }
    if !places.is_empty() {
        return refuse("other worktrees have it checked out as well");
    }
    Follower::open(handle, &request.branch, place).map(Some)
}

/// A lost race for the branch, told as such.
fn moved(failure: GitError, branch: &str) -> GitError {
    match failure {
        GitError::ReferenceMoved { .. } => GitError::BranchMoved {
            branch: branch.to_owned(),
        },
        failure => failure,
    }
}

/// What a merge comes to.
enum Outcome {
    /// The branch goes to this commit.
    Commit(ObjectId),
    /// The branch stays where it is.
    Nothing(MergeOutcome),
}

/// A merge of a captured state.
struct Merging<'a> {
    handle: &'a Handle,
    worktree: &'a gix::Repository,
    request: &'a MergeRequest,
    captured: &'a Captured,
}

impl Merging<'_> {
    /// The commit that the branch at `tip` is to go to; it is written, but on no branch yet.
    ///
    /// The null id as `tip` stands for a branch that is to be born.
    fn result(&self, tip: ObjectId) -> Result<Outcome> {
        let (worktree, strategy) = (self.worktree, self.request.strategy);
        let work = self.work()?;
        hit("git.merge.after-work")?;
        if tip.is_null() {
            return match strategy {
                MergeStrategy::Squash => self.merged(self.captured.files, tip, work),
                _ => Ok(work),
            }
            .map(Outcome::Commit);
        }
        let base = merge_base(worktree, tip, work)?;
        if base == Some(work) {
            return Ok(Outcome::Nothing(MergeOutcome::UpToDate));
        }
        let forward = base == Some(tip);
        if strategy == MergeStrategy::FastForward {
            if forward {
                return Ok(Outcome::Commit(work));
            }
            return Err(GitError::Diverged {
                branch: self.request.branch.clone(),
            });
        }
        let tree = if forward {
            self.captured.files
        } else if base.is_none() {
            return Err(GitError::UnrelatedHistories {
                branch: self.request.branch.clone(),
            });
        } else {
            let side = |commit, name| Side { commit, name };
            let ours = side(tip, &self.request.branch);
            let theirs = side(work, &self.handle.record.branch);
            let merged = three_way(worktree, ours, theirs)?;
            if !merged.conflicts.is_empty() {
                return Ok(Outcome::Nothing(MergeOutcome::Conflicts(merged.conflicts)));
            }
            merged.tree
        };
        let brings_history =
            strategy == MergeStrategy::MergeCommit && !contains(worktree, tip, self.captured.head)?;
        if !brings_history && tree == tree_of(worktree, tip)? {
            return Ok(Outcome::Nothing(MergeOutcome::UpToDate));
        }
        self.merged(tree, tip, work).map(Outcome::Commit)
    }

    /// The commit that holds the head's state: its last one if that is all, else one on top of it.
    fn work(&self) -> Result<ObjectId> {
        if self.captured.files == self.captured.head_tree {
            return Ok(self.captured.head);
        }
        let message = format!("Work of the head {}\n", self.handle.record.name);
        let parents: Vec<ObjectId> = self.captured.commit().into_iter().collect();
        self.write(&message, self.captured.files, &parents)
    }

    /// The commit that joins the head's work with the branch.
    fn merged(&self, tree: ObjectId, tip: ObjectId, work: ObjectId) -> Result<ObjectId> {
        let name = &self.handle.record.name;
        let message = match &self.request.message {
            Some(message) => clean(message)?,
            None => format!("Merge the head {name} into {}\n", self.request.branch),
        };
        let brings_history = self.request.strategy != MergeStrategy::Squash;
        let work = brings_history.then_some(work);
        let tip = Some(tip).filter(|tip| !tip.is_null());
        let parents: Vec<ObjectId> = tip.into_iter().chain(work).collect();
        self.write(&message, tree, &parents)
    }

    fn write(&self, message: &str, tree: ObjectId, parents: &[ObjectId]) -> Result<ObjectId> {
        let identity = Identity::of(self.worktree, self.request.author.as_ref())?;
        let now = self.handle.context.now();
        identity.write(self.worktree, message, tree, parents, now)
    }

    /// Moves the branch from `tip` to `new` together with the worktree that has it.
    fn follow(
        &self,
        follower: &Follower,
        reference: &str,
        tip: ObjectId,
        new: ObjectId,
    ) -> Result<()> {
        let trees = Trees {
            from: tree_of(self.worktree, tip)?,
            to: tree_of(self.worktree, new)?,
        };
        follower.expect_way(self.handle, &self.request.branch, trees.from, trees.to)?;
        let advance = Advance {
            git_dir: follower.place.git_dir.clone(),
            folder: follower.place.folder.clone(),
            branch: reference.to_owned(),
            from: tip,
            to: new,
            files: trees,
            index: trees,
            settled: Vec::new(),
            stages: Vec::new(),
            merge: MergeState::None,
            why: "merge head".to_owned(),
        };
        advance::run_locked(self.handle, &follower.worktree, &follower.index, &advance)
    }
}
