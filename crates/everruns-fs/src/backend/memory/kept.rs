use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use everruns_core::workspace::WorkspaceCheckpoint;

use super::commits::Commit;
use super::lineage::Lineage;

/// The checkpoints of a head. One is found by its revision without a look at the others.
#[derive(Debug, Default)]
pub(super) struct Kept {
    by_number: BTreeMap<u64, One>,
    by_revision: BTreeMap<String, BTreeSet<u64>>,
}

#[derive(Debug)]
struct One {
    checkpoint: WorkspaceCheckpoint,
    /// Where the head stood when it was taken, with the merges of this very state since.
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

    pub(super) fn holds(&self, revision: &str) -> bool {
        self.by_revision.contains_key(revision)
    }

    /// The latest that holds this state, if merges of a head that is made from it start where `lineage` says.
    pub(super) fn same(&self, revision: &str, lineage: &Lineage) -> Option<&WorkspaceCheckpoint> {
        let number = self.by_revision.get(revision)?.last()?;
        let one = self.by_number.get(number)?;
        one.lineage.is_same(lineage).then_some(&one.checkpoint)
    }

    /// The checkpoint with this number, and where merges of a head that is made from it start.
    pub(super) fn get(&self, number: u64) -> Option<(&WorkspaceCheckpoint, &Lineage)> {
        let one = self.by_number.get(&number)?;
        Some((&one.checkpoint, &one.lineage))
    }

    /// Notes that a branch holds the state of `work` by now.
    pub(super) fn note_merged(&mut self, work: &Arc<Commit>) {
        let numbers = self.by_revision.get(&work.tree.revision());
        for number in numbers.into_iter().flatten() {
            if let Some(one) = self.by_number.get_mut(number) {
                one.lineage.merged = Some(Arc::clone(work));
            }
        }
    }

    /// The number that the next one gets. The latest is never forgotten, so none is given twice.
    pub(super) fn next_number(&self) -> u64 {
        self.by_number
            .last_key_value()
            .map_or(1, |(last, _)| last + 1)
    }

    pub(super) fn add(&mut self, checkpoint: WorkspaceCheckpoint, lineage: Lineage) {
        let number = checkpoint.number;
        let of_state = self.by_revision.entry(checkpoint.revision.clone());
        of_state.or_default().insert(number);
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
                if let Some(of_state) = self.by_revision.get_mut(&checkpoint.revision) {
                    of_state.remove(&number);
                    if of_state.is_empty() {
                        self.by_revision.remove(&checkpoint.revision);
                    }
                }
                removed.push(checkpoint);
            }
        }
        removed
    }
}
