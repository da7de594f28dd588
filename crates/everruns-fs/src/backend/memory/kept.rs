use std::collections::BTreeMap;

use everruns_core::workspace::WorkspaceCheckpoint;

use super::merged::Merged;

/// The checkpoints of a head. One is found by its revision without a look at the others.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Oldest first.
    checkpoints: Vec<WorkspaceCheckpoint>,
    /// What the head had merged when each was taken.
    merged: Vec<Merged>,
    /// Where the latest of each revision is.
    by_revision: BTreeMap<String, usize>,
}

impl Kept {
    pub(super) fn all(&self) -> &[WorkspaceCheckpoint] {
        &self.checkpoints
    }

    /// The latest that holds this state.
    pub(super) fn of(&self, revision: &str) -> Option<&WorkspaceCheckpoint> {
        let at = *self.by_revision.get(revision)?;
        self.checkpoints.get(at)
    }

    /// What the head had merged when it took this one.
    pub(super) fn merged_at(&self, checkpoint: &WorkspaceCheckpoint) -> Option<&Merged> {
        let at = usize::try_from(checkpoint.number.checked_sub(1)?).ok()?;
        let kept = self.checkpoints.get(at)?;
        (kept.revision == checkpoint.revision).then(|| self.merged.get(at))?
    }

    /// The number that the next one gets.
    pub(super) fn next_number(&self) -> u64 {
        self.checkpoints.last().map_or(1, |last| last.number + 1)
    }

    pub(super) fn add(&mut self, checkpoint: WorkspaceCheckpoint, merged: Merged) {
        let at = self.checkpoints.len();
        self.merged.push(merged);
        self.by_revision.insert(checkpoint.revision.clone(), at);
        self.checkpoints.push(checkpoint);
    }
}
