use std::collections::BTreeMap;

use everruns_core::workspace::WorkspaceCheckpoint;

use super::named::Lineage;

/// The checkpoints of a head. One is found by its revision without a look at the others.
#[derive(Debug, Default)]
pub(super) struct Kept {
    by_number: BTreeMap<u64, One>,
    /// The number of the latest of each revision.
    by_revision: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct One {
    checkpoint: WorkspaceCheckpoint,
    /// That of the head when it was taken.
    lineage: Lineage,
}

impl Kept {
    /// Oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &WorkspaceCheckpoint> {
        self.by_number.values().map(|one| &one.checkpoint)
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// The latest that holds this state.
    pub(super) fn of(&self, revision: &str) -> Option<&WorkspaceCheckpoint> {
        let number = self.by_revision.get(revision)?;
        self.by_number.get(number).map(|one| &one.checkpoint)
    }

    /// That of the head when it took this one.
    pub(super) fn lineage_at(&self, checkpoint: &WorkspaceCheckpoint) -> Option<&Lineage> {
        let one = self.by_number.get(&checkpoint.number)?;
        (one.checkpoint.revision == checkpoint.revision).then_some(&one.lineage)
    }

    /// The number that the next one gets. The latest is never forgotten, so none is given twice.
    pub(super) fn next_number(&self) -> u64 {
        self.by_number
            .last_key_value()
            .map_or(1, |(last, _)| last + 1)
    }

    pub(super) fn add(&mut self, checkpoint: WorkspaceCheckpoint, lineage: Lineage) {
        let number = checkpoint.number;
        self.by_revision.insert(checkpoint.revision.clone(), number);
        self.by_number.insert(
            number,
            One {
                checkpoint,
                lineage,
            },
        );
    }

    /// Forgets all but the latest `keep` and those whose state is needed. Gives them, oldest first.
    pub(super) fn prune(
        &mut self,
        keep: usize,
        is_needed: impl Fn(&str) -> bool,
    ) -> Vec<WorkspaceCheckpoint> {
        let count = self.len().saturating_sub(keep.max(1));
        let old: Vec<u64> = self.by_number.keys().take(count).copied().collect();
        let mut removed = Vec::new();
        for number in old {
            if self
                .by_number
                .get(&number)
                .is_none_or(|one| is_needed(&one.checkpoint.revision))
            {
                continue;
            }
            if let Some(One { checkpoint, .. }) = self.by_number.remove(&number) {
                if self.by_revision.get(&checkpoint.revision) == Some(&number) {
                    self.by_revision.remove(&checkpoint.revision);
                }
                removed.push(checkpoint);
            }
        }
        removed
    }
}
