use everruns_core::clock::Timestamp;
use everruns_core::workspace::{
    RestorePlan, RestoreReceipt, RestoreStep, WorkspaceCheckpoint, WorkspaceError,
};

use super::lineage::Lineage;
use super::resource::MemoryHead;
use super::state::HeadState;
use crate::disk::blocking;
use crate::memory::{Tree, changes};

impl HeadState {
    /// Records `tree` as the head's state. A state that the head was made from, or that a checkpoint of it holds, needs
    /// no new record unless a new label is to be kept, or merges have moved where the next ones start.
    fn record(&mut self, tree: &Tree, label: Option<&str>, now: Timestamp) -> WorkspaceCheckpoint {
        let revision = tree.revision();
        if let Some(same) = self.kept.same(&revision, &self.lineage)
            && (label.is_none() || same.label.as_deref() == label)
        {
            return same.clone();
        }
        let is_base =
            revision == self.descriptor.base && self.lineage.is_same(&Lineage::at(tree.clone()));
        let needs_record = !is_base || label.is_some();
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
            uncommitted: !tree.has_same_files(&self.base),
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
            let target = workspace.checkpoint(&checkpoint.revision)?.tree().clone();
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            // What was there until the very moment of the exchange is what is kept.
            let before = head.files.replace(target.clone());
            let kept = head.record(&before, None, now);
            let lineage = head.lineage.clone();
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            workspace.keep(&before, lineage);
            Ok((kept, before, target))
        })?;
        let changed = blocking(move || Ok(changed_paths(&before, &target))).await?;
        Ok(RestoreReceipt {
            before: kept,
            changed,
        })
    }

    /// Records the last state of a head that ends; `None` when it is the one that it was made from, with nothing to merge.
    pub(super) fn keep_last(
        head: &mut HeadState,
        last: &Tree,
        now: Timestamp,
    ) -> Option<WorkspaceCheckpoint> {
        let revision = last.revision();
        let is_as_begun = revision == head.descriptor.base && !head.has_merged;
        if is_as_begun {
            return None;
        }
        let checkpoint = head.record(last, None, now);
        (checkpoint.number != 0).then_some(checkpoint)
    }
}

/// What bringing `now` to `target` would do.
pub(super) fn plan(now: &Tree, target: &Tree) -> RestorePlan {
    let steps = changes(now, target).into_iter().map(|change| RestoreStep {
        path: change.path.relative().to_owned(),
        removes: change.after.is_none(),
    });
    RestorePlan {
        steps: steps.collect(),
        blocked: Vec::new(),
        branch_to: None,
    }
}

fn changed_paths(before: &Tree, after: &Tree) -> Vec<String> {
    changes(before, after)
        .into_iter()
        .map(|change| change.path.relative().to_owned())
        .collect()
}
