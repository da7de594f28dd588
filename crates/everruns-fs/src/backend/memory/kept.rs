use std::collections::BTreeMap;

use everruns_core::workspace::WorkspaceCheckpoint;

/// The checkpoints of a head. One is found by its revision without a look at the others.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Oldest first.
    checkpoints: Vec<WorkspaceCheckpoint>,
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

    /// The number that the next one gets.
    pub(super) fn next_number(&self) -> u64 {
        self.checkpoints.last().map_or(1, |last| last.number + 1)
    }

    pub(super) fn add(&mut self, checkpoint: WorkspaceCheckpoint) {
        let at = self.checkpoints.len();
        self.by_revision.insert(checkpoint.revision.clone(), at);
        self.checkpoints.push(checkpoint);
    }
}
