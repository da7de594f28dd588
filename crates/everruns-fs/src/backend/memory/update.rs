use std::io;
use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::workspace::{MergeConflict, UpdateOutcome, UpdateRequest, WorkspaceError};

use super::commits::{Commit, Note, merge_base};
use super::lineage::Unfinished;
use super::merge::unknown;
use super::note;
use super::resource::MemoryHead;
use super::state::State;
use super::three_way::{Names, Sides, is_same, put_all, three_way};
use crate::disk::blocking;
use crate::memory::{Tree, TreeChange, changes};

/// What is brought together.
#[derive(Clone, Debug)]
struct Start {
    last: Arc<Commit>,
    tip: Arc<Commit>,
    /// What the branch has of the head that is not committed there.
    merged: Option<Arc<Commit>>,
}

/// What is to be done to a head's files, found out without the lock.
#[derive(Debug)]
struct Plan {
    /// What the last commit's files become.
    target: Tree,
    /// The files by which that differs from them.
    changes: Vec<TreeChange>,
    conflicts: Vec<MergeConflict>,
    is_forward: bool,
}

/// Why a head's files cannot be changed.
enum Refused {
    Lost(Vec<String>),
    Full,
}

impl MemoryHead {
    /// Merges without the lock, and starts again when the head has a new commit by then.
    pub(super) async fn update(
        &self,
        request: UpdateRequest,
    ) -> Result<UpdateOutcome, WorkspaceError> {
        let said = self.note_of_update(&request)?;
        loop {
            let start = self.locked(|state| self.start_update(state, &request.branch))?;
            let base = merge_base(&start.last, &start.tip);
            let Some(base) = base else {
                return Err(WorkspaceError::UnrelatedHistories {
                    branch: request.branch,
                });
            };
            if Arc::ptr_eq(&base, &start.tip) {
                return Ok(UpdateOutcome::UpToDate);
            }
            let (for_plan, label, now) = (start.clone(), request.branch.clone(), said.at);
            let plan = blocking(move || Ok(Plan::new(&for_plan, &base, label, now))).await?;
            if let Some(outcome) = self.locked(|state| self.go(state, &start, &plan, &said))? {
                return Ok(outcome);
            }
        }
    }

    fn note_of_update(&self, request: &UpdateRequest) -> Result<Note, WorkspaceError> {
        let own = self.descriptor.branch.as_deref().unwrap_or_default();
        let default = || format!("Merge branch '{}' into {own}", request.branch);
        let message = request.message.clone().unwrap_or_else(default);
        Ok(Note {
            message: note::clean(&message)?,
            author: note::author(request.author.as_ref())?,
            at: self.shared.options.clock.now(),
        })
    }

    fn start_update(&self, state: &mut State, branch: &str) -> Result<Start, WorkspaceError> {
        let workspace = state.workspace(&self.descriptor.workspace_id)?;
        let head = workspace.head(&self.descriptor.id)?;
        head.not_destroyed()?;
        head.not_conflicted()?;
        let tip = workspace.branches.get(branch).cloned();
        let tip = tip.ok_or_else(|| unknown(branch))?;
        let merged = head.lineage.merged_only();
        Ok(Start {
            last: Arc::clone(&head.lineage.last),
            merged: merged.filter(|merged| merged.is_in(&tip)).cloned(),
            tip,
        })
    }

    /// Changes the files and moves the branch, if the head is still at the commit that the plan is for.
    fn go(
        &self,
        state: &mut State,
        start: &Start,
        plan: &Plan,
        said: &Note,
    ) -> Result<Option<UpdateOutcome>, WorkspaceError> {
        let workspace = state.workspace(&self.descriptor.workspace_id)?;
        let head = workspace.head_mut(&self.descriptor.id)?;
        head.not_destroyed()?;
        head.not_conflicted()?;
        if !Arc::ptr_eq(&head.lineage.last, &start.last) {
            return Ok(None);
        }
        let merged = start.merged.as_ref().map(|merged| &merged.tree);
        let limit = self.shared.options.max_total_bytes;
        // The last that can fail, so that nothing is half done.
        let changed = head
            .files
            .exchange(|files| plan.apply(files, &start.last.tree, merged, limit, said.at));
        changed.map_err(|refused| self.refused(refused))?;
        if !plan.conflicts.is_empty() {
            head.lineage.unfinished = Some(Arc::new(Unfinished {
                from: Arc::clone(&start.tip),
                conflicts: plan.conflicts.clone(),
                message: said.message.clone(),
            }));
            return Ok(Some(UpdateOutcome::Conflicts(plan.conflicts.clone())));
        }
        let revision = plan.target.revision();
        if plan.is_forward {
            workspace.move_head(&self.descriptor.id, &start.tip)?;
            return Ok(Some(UpdateOutcome::FastForwarded { revision }));
        }
        let parents = vec![Arc::clone(&start.last), Arc::clone(&start.tip)];
        let commit = Commit::new(plan.target.clone(), parents, said.clone());
        workspace.move_head(&self.descriptor.id, &commit)?;
        Ok(Some(UpdateOutcome::Merged { revision }))
    }

    fn refused(&self, refused: Refused) -> WorkspaceError {
        match refused {
            Refused::Lost(files) => WorkspaceError::LocalChanges {
                head: self.descriptor.id.clone(),
                files,
            },
            Refused::Full => WorkspaceError::NoSpace {
                operation: "update the head",
                path: self.descriptor.name.as_str().into(),
                source: io::ErrorKind::StorageFull.into(),
            },
        }
    }
}

impl Plan {
    fn new(start: &Start, base: &Arc<Commit>, label: String, now: Timestamp) -> Self {
        let (last, tip) = (&start.last.tree, &start.tip.tree);
        let is_forward = Arc::ptr_eq(base, &start.last);
        let (target, conflicts) = if is_forward {
            (tip.clone(), Vec::new())
        } else {
            let sides = Sides {
                base: base.tree.clone(),
                into: last.clone(),
                from: tip.clone(),
                names: Names {
                    into: "the head",
                    from: "the branch",
                    label,
                },
            };
            let merged = three_way(&sides, now);
            (merged.tree, merged.conflicts)
        };
        Self {
            changes: changes(last, &target),
            target,
            conflicts,
            is_forward,
        }
    }

    /// What `files` become, with all that is changed in them and in no commit.
    fn apply(
        &self,
        files: &Tree,
        last: &Tree,
        merged: Option<&Tree>,
        limit: u64,
        now: Timestamp,
    ) -> Result<Tree, Refused> {
        let changed = if files.revision() == last.revision() {
            self.target.clone()
        } else {
            self.apply_beside(files, merged, now)
                .map_err(Refused::Lost)?
        };
        let bytes = changed.total_bytes();
        if bytes > limit && bytes > files.total_bytes() {
            return Err(Refused::Full);
        }
        Ok(changed)
    }

    /// As [`apply`](Self::apply), where the branch has the state `merged` of the head: what is as it was then is not lost.
    fn apply_beside(
        &self,
        files: &Tree,
        merged: Option<&Tree>,
        now: Timestamp,
    ) -> Result<Tree, Vec<String>> {
        let mut wanted = Vec::new();
        let mut lost = Vec::new();
        for change in &self.changes {
            let here = files.file(&change.path);
            if is_same(here, change.after.as_ref()) {
                continue;
            }
            let is_kept = match merged {
                Some(merged) => is_same(here, merged.file(&change.path)),
                // As in Git, nothing is lost of a file that isn't there.
                None => here.is_none() || is_same(here, change.before.as_ref()),
            };
            if is_kept {
                wanted.push((change.path.clone(), change.after.clone()));
            } else {
                lost.push(change.path.relative().to_owned());
            }
        }
        let mut changed = files.clone();
        let blocked = put_all(&mut changed, wanted, now);
        lost.extend(blocked.iter().map(|path| path.relative().to_owned()));
        if lost.is_empty() {
            return Ok(changed);
        }
        lost.sort();
        Err(lost)
    }
}
