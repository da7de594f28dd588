use everruns_core::clock::Timestamp;
use everruns_core::workspace::{
    RestorePlan, RestoreReceipt, RestoreStep, WorkspaceCheckpoint, WorkspaceError,
};

use super::resource::MemoryHead;
use super::state::HeadState;
use crate::disk::blocking;
use crate::memory::{Tree, changes};

impl HeadState {
    /// Records `tree` as the head's state. A state that the head's last commit holds, or a checkpoint that was taken at the
    /// same commit, needs no new record unless a new label is to be kept, or merges have moved where the next ones start.
    fn record(&mut self, tree: &Tree, label: Option<&str>, now: Timestamp) -> WorkspaceCheckpoint {
        let revision = tree.revision();
        if let Some(same) = self.kept.same(&revision, &self.lineage)
            && (label.is_none() || same.label.as_deref() == label)
        {
            return same.clone();
        }
        let needs_record = !self.lineage.is_committed(tree) || label.is_some();
        let checkpoint = WorkspaceCheckpoint {
            head_id: self.descriptor.id.clone(),
            number: if needs_record {
                self.kept.next_number()
            } else {
                0
            },
            revision,
            created_at: now,
            label: label.map(str::to_owned),
            uncommitted: self.lineage.is_changed(tree),
            location: None,
            changed_paths: None,
            uncaptured: Vec::new(),
        };
        if needs_record {
            self.kept.add(checkpoint.clone(), self.lineage.clone());
        }
        checkpoint
    }
}

impl MemoryHead {
    pub(super) fn take_checkpoint(
        &self,
        label: Option<&str>,
    ) -> Result<WorkspaceCheckpoint, WorkspaceError> {
        let now = self.shared.options.clock.now();
        self.locked(|state| {
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            let tree = head.files.tree();
            let checkpoint = head.record(&tree, label, now);
            let lineage = head.lineage.clone();
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            workspace.keep(&tree, lineage);
            Ok(checkpoint)
        })
    }

    /// Exchanges the files under the lock, and counts what changed by it without.
    pub(super) async fn restore_checkpoint(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError> {
        let now = self.shared.options.clock.now();
        let (kept, before, target) = self.locked(|state| {
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            let named = workspace.checkpoint(&checkpoint.revision)?;
            let target = named.tree().clone();
            let place = workspace.lineage_at(checkpoint);
            let place = place.unwrap_or_else(|| named.lineage());
            let head = workspace.head_mut(&self.descriptor.id)?;
            head.not_destroyed()?;
            // What was there until the very moment of the exchange is what is kept.
            let before = head.files.replace(target.clone());
            let kept = head.record(&before, None, now);
            let lineage = head.lineage.clone();
            head.lineage.unfinished = place.unfinished;
            workspace.keep(&before, lineage);
            workspace.set_last(&self.descriptor.id, &place.last)?;
            Ok((kept, before, target))
        })?;
        let changed = blocking(move || Ok(changed_paths(&before, &target))).await?;
        Ok(RestoreReceipt {
            before: kept,
            changed,
        })
    }

    /// Records the last state of a head that ends; `None` when its last commit holds it, with nothing to merge.
    pub(super) fn keep_last(
        head: &mut HeadState,
        last: &Tree,
        now: Timestamp,
    ) -> Option<WorkspaceCheckpoint> {
        if head.lineage.is_committed(last) {
            return None;
        }
        Some(head.record(last, None, now))
    }
}

/// What bringing `now` to `target` would do; the head's branch moves to `branch_to`, if it does.
pub(super) fn plan(now: &Tree, target: &Tree, branch_to: Option<String>) -> RestorePlan {
    let steps = changes(now, target).into_iter().map(|change| RestoreStep {
        path: change.path.relative().to_owned(),
        removes: change.after.is_none(),
    });
    RestorePlan {
        steps: steps.collect(),
        blocked: Vec::new(),
        branch_to,
    }
}

fn changed_paths(before: &Tree, after: &Tree) -> Vec<String> {
    changes(before, after)
        .into_iter()
        .map(|change| change.path.relative().to_owned())
        .collect()
}
