//! A three-way merge in memory, and a branch that moves by compare-and-swap.

use everruns_core::failpoint::hit;
use everruns_core::workspace::{MergeConflict, MergeOutcome, MergeRequest, MergeStrategy};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::merge::blob::builtin_driver::text::Labels;
use gix::merge::tree::TreatAsUnresolved;

use super::checked_out::worktree_of;
use crate::checkpoint::{self, Captured};
use crate::error::{GitError, GitStep as _, Result};
use crate::head::Handle;
use crate::names::{path_text, shorten};
use crate::repository::{Refs, SIGNATURE_EMAIL, SIGNATURE_NAME, signature_time};

/// Merges the present state of the head into a branch, whose worktrees and files are not touched.
pub(crate) fn merge(handle: &Handle, request: &MergeRequest) -> Result<MergeOutcome> {
    let _lock = handle.lock()?;
    let worktree = handle.open()?;
    let reference = reference(&request.branch)?;
    let refs = Refs::new(&worktree, handle.context.now());
    let unknown = || GitError::UnknownRevision {
        revision: request.branch.clone(),
    };
    let tip = refs.target(&reference)?.ok_or_else(unknown)?;
    if let Some(folder) = worktree_of(&worktree, &reference)? {
        return Err(GitError::BranchCheckedOut {
            branch: request.branch.clone(),
            worktree: folder,
        });
    }
    let captured = checkpoint::capture(&worktree)?;
    if !captured.manifest.stages.is_empty() {
        return Ok(MergeOutcome::Conflicts(unresolved(&captured)));
    }
    let commits = Commits {
        handle,
        worktree: &worktree,
    };
    let work = commits.work(&captured)?;
    hit("git.merge.after-work")?;
    let base = merge_base(&worktree, tip, work)?;
    if base == Some(work) {
        return Ok(MergeOutcome::UpToDate);
    }
    let forward = base == Some(tip);
    let new = if forward && request.strategy == MergeStrategy::FastForward {
        work
    } else if request.strategy == MergeStrategy::FastForward {
        return Err(GitError::Diverged {
            branch: request.branch.clone(),
        });
    } else {
        let tree = if forward {
            captured.files
        } else {
            match three_way(&worktree, tip, work, &request.branch, &handle.record.branch)? {
                Ok(tree) => tree,
                Err(conflicts) => return Ok(MergeOutcome::Conflicts(conflicts)),
            }
        };
        let brings_history = request.strategy == MergeStrategy::MergeCommit
            && !contains(&worktree, tip, captured.head)?;
        if !brings_history && tree == commits.tree(tip)? {
            return Ok(MergeOutcome::UpToDate);
        }
        commits.merged(request, tree, tip, work)?
    };
    hit("git.merge.after-commit")?;
    checkpoint::flush_objects(&worktree)?;
    hit("git.merge.after-flush")?;
    refs.swap(&reference, tip, new, "merge head")
        .map_err(|failure| moved(failure, &request.branch))?;
    checkpoint::flush_reference(worktree.common_dir(), &reference)?;
    Ok(MergeOutcome::Merged {
        revision: new.to_string(),
    })
}

/// Whether the history of `tip` holds `commit`.
fn contains(repository: &gix::Repository, tip: ObjectId, commit: ObjectId) -> Result<bool> {
    let base = merge_base(repository, tip, commit)?;
    Ok(base == Some(commit))
}

/// The best common ancestor; `None` for histories that have none.
fn merge_base(
    repository: &gix::Repository,
    one: ObjectId,
    two: ObjectId,
) -> Result<Option<ObjectId>> {
    Ok(repository
        .merge_base(one, two)
        .git("find the merge base")?
        .map(gix::Id::detach))
}

/// The full name of the branch.
fn reference(branch: &str) -> Result<String> {
    let full = format!("refs/heads/{branch}");
    let valid = !branch.starts_with('-') && gix::refs::FullName::try_from(full.as_str()).is_ok();
    if valid {
        return Ok(full);
    }
    Err(GitError::InvalidRevision {
        revision: shorten(branch),
        reason: "it can't be the name of a branch",
    })
}

/// A lost race for the branch, told as such.
fn moved(failure: GitError, branch: &str) -> GitError {
    match failure {
        GitError::Git { source, .. } if source.is_conflict() => GitError::BranchMoved {
            branch: branch.to_owned(),
        },
        failure => failure,
    }
}

/// The conflicts that the head itself still has.
fn unresolved(captured: &Captured) -> Vec<MergeConflict> {
    let mut paths: Vec<String> = captured
        .manifest
        .stages
        .iter()
        .map(|stage| path_text(stage.path.as_bstr()))
        .collect();
    paths.dedup();
    let detail = "the head itself has an unresolved conflict here";
    paths
        .into_iter()
        .map(|path| MergeConflict {
            path,
            detail: detail.to_owned(),
            ..MergeConflict::default()
        })
        .collect()
}

/// The merged tree, or what is in the way.
fn three_way(
    worktree: &gix::Repository,
    ours: ObjectId,
    theirs: ObjectId,
    our_name: &str,
    their_name: &str,
) -> Result<std::result::Result<ObjectId, Vec<MergeConflict>>> {
    let options = worktree.tree_merge_options().git("prepare the merge")?;
    let labels = Labels {
        ancestor: None,
        current: Some(our_name.into()),
        other: Some(their_name.into()),
    };
    let merged = worktree
        .merge_commits(ours, theirs, labels, options.into())
        .git("merge")?;
    let mut outcome = merged.tree_merge;
    let strict = TreatAsUnresolved::default();
    if !outcome.has_unresolved_conflicts(strict) {
        return Ok(Ok(outcome
            .tree
            .write()
            .git("write the merged tree")?
            .detach()));
    }
    let mut conflicts: Vec<MergeConflict> = outcome
        .conflicts
        .iter()
        .filter(|conflict| conflict.is_unresolved(strict))
        .map(|conflict| MergeConflict {
            path: path_text(conflict.ours.location()),
            detail: match &conflict.resolution {
                Ok(_) => "both sides changed the same lines".to_owned(),
                Err(failure) => format!("{failure:?}"),
            },
            ..MergeConflict::default()
        })
        .collect();
    conflicts.sort_by(|left, right| left.path.cmp(&right.path));
    conflicts.dedup();
    Ok(Err(conflicts))
}

/// Writes the commits of a merge.
struct Commits<'a> {
    handle: &'a Handle,
    worktree: &'a gix::Repository,
}

impl Commits<'_> {
    /// The commit that holds the head's state: its last one if that is all, else one on top of it.
    fn work(&self, captured: &Captured) -> Result<ObjectId> {
        if captured.files == captured.head_tree {
            return Ok(captured.head);
        }
        let message = format!("Work of the head {}\n", self.handle.record.name);
        self.write(&message, captured.files, &[captured.head])
    }

    /// The commit that the branch moves to.
    fn merged(
        &self,
        request: &MergeRequest,
        tree: ObjectId,
        tip: ObjectId,
        work: ObjectId,
    ) -> Result<ObjectId> {
        let name = &self.handle.record.name;
        let message = match &request.message {
            Some(message) => message.clone(),
            None => format!("Merge the head {name} into {}\n", request.branch),
        };
        let parents = [tip, work];
        let parents = if request.strategy == MergeStrategy::Squash {
            &parents[..1]
        } else {
            &parents
        };
        self.write(&message, tree, parents)
    }

    /// The tree of a commit.
    fn tree(&self, commit: ObjectId) -> Result<ObjectId> {
        let commit = self.worktree.find_commit(commit).git("read the branch")?;
        Ok(commit.tree_id().git("read the branch")?.detach())
    }

    /// Writes a commit in the name of who is configured in the repository, or for the user; else in our own.
    fn write(&self, message: &str, tree: ObjectId, parents: &[ObjectId]) -> Result<ObjectId> {
        let config = self.worktree.config_snapshot();
        let name = config
            .string("user.name")
            .unwrap_or_else(|| SIGNATURE_NAME.into());
        let email = config
            .string("user.email")
            .unwrap_or_else(|| SIGNATURE_EMAIL.into());
        let time = signature_time(self.handle.context.now());
        let signature = gix::actor::SignatureRef {
            name: name.as_ref(),
            email: email.as_ref(),
            time: &time,
        };
        let parents = parents.iter().copied();
        let commit = self
            .worktree
            .new_commit_as(signature, signature, message, tree, parents);
        Ok(commit.git("write a commit")?.id)
    }
}
