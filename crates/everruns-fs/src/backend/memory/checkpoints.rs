use everruns_core::clock::Timestamp;
use everruns_core::workspace::{RestoreReceipt, WorkspaceCheckpoint, WorkspaceError};

use super::resource::MemoryHead;
use super::state::HeadState;
use crate::memory::{Snapshot, changes};

impl HeadState {
    /// Records `snapshot` as the head's state. A state that the head was made from, or that the last
    /// checkpoint holds, needs no new record unless a new label is to be kept.
    fn record(
        &mut self,
        snapshot: &Snapshot,
        label: Option<&str>,
        now: Timestamp,
    ) -> WorkspaceCheckpoint {
        let revision = snapshot.revision();
        let same = self
            .checkpoints
            .iter()
            .rev()
            .find(|kept| kept.revision == revision);
        if let Some(kept) = same
            && (label.is_none() || kept.label.as_deref() == label)
        {
            return kept.clone();
        }
        let uncommitted = revision != self.descriptor.base;
        let needs_record = uncommitted || label.is_some();
        let last = self.checkpoints.last().map_or(0, |last| last.number);
        let checkpoint = WorkspaceCheckpoint {
            head_id: self.descriptor.id.clone(),
            number: if needs_record { last + 1 } else { 0 },
            revision,
            created_at: now,
            label: label.map(str::to_owned),
            uncommitted,
            location: None,
            changed_paths: None,
            uncaptured: Vec::new(),
        };
        if needs_record {
            self.checkpoints.push(checkpoint.clone());
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
            let snapshot = head.files.snapshot();
            let checkpoint = head.record(&snapshot, label, now);
            state
                .workspace(&self.descriptor.workspace_id)?
                .keep(&snapshot);
            Ok(checkpoint)
        })
    }

    pub(super) fn restore_checkpoint(
        &self,
        checkpoint: &WorkspaceCheckpoint,
    ) -> Result<RestoreReceipt, WorkspaceError> {
        let now = self.shared.options.clock.now();
        self.locked(|state| {
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            let target = workspace.checkpoint(&checkpoint.revision)?;
            let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
            head.not_destroyed()?;
            // What was there until the very moment of the exchange is what is kept.
            let before = head.files.replace(target.clone());
            let kept = head.record(&before, None, now);
            state
                .workspace(&self.descriptor.workspace_id)?
                .keep(&before);
            let changed = changes(&before.top, &target.top);
            Ok(RestoreReceipt {
                before: kept,
                changed: changed
                    .iter()
                    .map(|change| change.path.relative().to_owned())
                    .collect(),
            })
        })
    }

    /// Records the last state of a head that ends; `None` when it is the one that it was made from.
    pub(super) fn keep_last(
        head: &mut HeadState,
        last: &Snapshot,
        now: Timestamp,
    ) -> Option<WorkspaceCheckpoint> {
        let checkpoint = head.record(last, None, now);
        checkpoint.uncommitted.then_some(checkpoint)
    }
}
