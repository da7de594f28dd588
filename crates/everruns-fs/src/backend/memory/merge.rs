use std::path::PathBuf;
use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::ids::WorkspaceHeadId;
use everruns_core::workspace::{
    MergeConflict, MergeOutcome, MergeRequest, MergeStrategy, WorkspaceError,
};

use super::commits::{Commit, Note, merge_base};
use super::note;
use super::resource::MemoryHead;
use super::state::{State, WorkspaceState};
use super::three_way::{Names, Sides, three_way};
use crate::disk::blocking;
use crate::memory::{Tree, changes};

/// What is merged, and into what.
#[derive(Clone, Debug)]
struct Start {
    tip: Arc<Commit>,
    work: Arc<Commit>,
}

/// What a merge came to, before the branch is moved.
enum Found {
    Nothing,
    Conflicts(Vec<MergeConflict>),
    State(Tree),
}

impl MemoryHead {
    /// Merges without the lock, and starts again when the branch has moved meanwhile.
    pub(super) async fn merge(
        &self,
        request: MergeRequest,
    ) -> Result<MergeOutcome, WorkspaceError> {
        let said = self.note_of_merge(&request)?;
        loop {
            let start = match self.locked(|state| self.start(state, &request.branch))? {
                Ok(start) => start,
                Err(conflicts) => return Ok(MergeOutcome::Conflicts(conflicts)),
            };
            let base = merge_base(&start.tip, &start.work);
            let Some(base) = base else {
                return Err(WorkspaceError::UnrelatedHistories {
                    branch: request.branch,
                });
            };
            let only_forward = request.strategy == MergeStrategy::FastForward;
            let (for_merge, from) = (start.clone(), base.tree.clone());
            let now = said.at;
            let found = blocking(move || Ok(find(&for_merge, from, now))).await?;
            let found = match found {
                Found::Conflicts(conflicts) if !only_forward => {
                    return Ok(MergeOutcome::Conflicts(conflicts));
                }
                Found::Nothing if start.work.tree.has_same_files(&base.tree) => {
                    return Ok(MergeOutcome::UpToDate);
                }
                Found::Nothing => None,
                Found::State(tree)
                    if !only_forward || start.tip.tree.has_same_files(&base.tree) =>
                {
                    Some(tree)
                }
                Found::State(_) | Found::Conflicts(_) => {
                    return Err(WorkspaceError::BranchDiverged {
                        branch: request.branch,
                    });
                }
            };
            if let Some(outcome) =
                self.locked(|state| self.land(state, &request.branch, &start, found, &said))?
            {
                return Ok(outcome);
            }
        }
    }

    fn note_of_merge(&self, request: &MergeRequest) -> Result<Note, WorkspaceError> {
        let default = || {
            format!(
                "Merge the head {} into {}",
                self.descriptor.name, request.branch
            )
        };
        let message = request.message.clone().unwrap_or_else(default);
        Ok(Note {
            message: note::clean(&message)?,
            author: note::author(request.author.as_ref())?,
            at: self.shared.options.clock.now(),
        })
    }

    /// What to merge; the conflicts instead that the head itself has.
    fn start(
        &self,
        state: &mut State,
        branch: &str,
    ) -> Result<Result<Start, Vec<MergeConflict>>, WorkspaceError> {
        let workspace = state.workspace(&self.descriptor.workspace_id)?;
        let tip = workspace.branches.get(branch).cloned();
        let head = workspace.head(&self.descriptor.id)?;
        head.not_destroyed()?;
        let tip = tip.ok_or_else(|| unknown(branch))?;
        if head.branch == branch {
            let reason = "it is the head's own branch; commit instead";
            return Err(self.in_use(branch, head.descriptor.name.as_str(), reason, Vec::new()));
        }
        if let Some(unfinished) = &head.lineage.unfinished {
            let mut conflicts = unfinished.conflicts.clone();
            for conflict in &mut conflicts {
                conflict
                    .detail
                    .insert_str(0, "not resolved in the head itself: ");
            }
            return Ok(Err(conflicts));
        }
        let (files, name) = (head.files.tree(), head.descriptor.name.as_str());
        let now = self.shared.options.clock.now();
        let work = head.lineage.work(&files, name, now);
        Ok(Ok(Start { tip, work }))
    }

    /// Moves the branch if it is still where the merge found it, and the files of the head that it belongs to; or only notes
    /// there that it has all of this head.
    fn land(
        &self,
        state: &mut State,
        branch: &str,
        start: &Start,
        merged: Option<Tree>,
        said: &Note,
    ) -> Result<Option<MergeOutcome>, WorkspaceError> {
        let workspace = state.workspace(&self.descriptor.workspace_id)?;
        let is_same = |tip: &Arc<Commit>| Arc::ptr_eq(tip, &start.tip);
        if !workspace.branches.get(branch).is_some_and(is_same) {
            return Ok(None);
        }
        let parents = vec![Arc::clone(&start.tip), Arc::clone(&start.work)];
        let holder = workspace.holder(branch);
        let (commit, outcome) = match merged {
            None => {
                let tree = start.tip.tree.clone();
                let commit = Commit::new(tree, parents, Note::nothing(said.at));
                (commit, MergeOutcome::UpToDate)
            }
            Some(merged) => {
                let revision = merged.revision();
                let commit = Commit::new(merged, parents, said.clone());
                if let Some(holder) = &holder {
                    // The last that can fail, so that nothing is half done.
                    self.follow(workspace, holder, branch, &commit)?;
                }
                (commit, MergeOutcome::Merged { revision })
            }
        };
        if let Some(holder) = &holder {
            workspace.move_head(holder, &commit)?;
        } else {
            workspace.keep_commit(&commit);
            workspace.branches.insert(branch.to_owned(), commit);
        }
        workspace.note_merged(&start.work);
        let head = workspace.head_mut(&self.descriptor.id)?;
        head.kept.note_merged(&start.work);
        head.lineage.merged = Some(Arc::clone(&start.work));
        Ok(Some(outcome))
    }

    /// Brings the files of the head whose branch moves to where that goes; refused if anything is changed there.
    fn follow(
        &self,
        workspace: &WorkspaceState,
        holder: &WorkspaceHeadId,
        branch: &str,
        commit: &Arc<Commit>,
    ) -> Result<(), WorkspaceError> {
        let head = workspace.head(holder)?;
        let name = head.descriptor.name.as_str();
        if head.lineage.unfinished.is_some() {
            let reason = "a merge waits there to be concluded";
            return Err(self.in_use(branch, name, reason, Vec::new()));
        }
        let followed = head.files.exchange(|files| {
            let changed = changes(&head.lineage.last.tree, files);
            if changed.is_empty() {
                return Ok(commit.tree.clone());
            }
            let paths = changed.iter().map(|change| change.path.relative());
            Err(paths.map(str::to_owned).collect())
        });
        let reason = "its files are changed there";
        followed
            .map(drop)
            .map_err(|files| self.in_use(branch, name, reason, files))
    }

    fn in_use(&self, branch: &str, head: &str, reason: &str, files: Vec<String>) -> WorkspaceError {
        WorkspaceError::BranchInUse {
            branch: branch.to_owned(),
            location: PathBuf::from(format!("the head {head} of {}", self.shared.id)),
            reason: reason.to_owned(),
            files,
        }
    }
}

pub(super) fn unknown(branch: &str) -> WorkspaceError {
    WorkspaceError::UnknownRevision {
        revision: branch.to_owned(),
        reason: "there is no such branch".to_owned(),
    }
}

fn find(start: &Start, base: Tree, now: Timestamp) -> Found {
    let sides = Sides {
        base,
        into: start.tip.tree.clone(),
        from: start.work.tree.clone(),
        names: Names {
            into: "the branch",
            from: "the head",
            label: String::new(),
        },
    };
    let merged = three_way(&sides, now);
    if !merged.conflicts.is_empty() {
        Found::Conflicts(merged.conflicts)
    } else if merged.tree.revision() == sides.into.revision() {
        // What both sides changed may come to what the branch has.
        Found::Nothing
    } else {
        Found::State(merged.tree)
    }
}
