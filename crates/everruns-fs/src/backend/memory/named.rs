use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use everruns_core::workspace::WorkspaceCheckpoint;

use super::commits::Commit;
use super::lineage::Lineage;
use super::state::{HeadState, WorkspaceState};
use crate::memory::Tree;

/// A state that has a name.
#[derive(Debug)]
pub(super) struct Named {
    tree: Tree,
    origin: Origin,
}

#[derive(Debug)]
enum Origin {
    /// The latest commit with that state, which stays for good.
    Commit(Arc<Commit>),
    /// Where the head stood that kept it last.
    Head(Lineage),
}

impl Named {
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Where a head with that state stands.
    pub(super) fn lineage(&self) -> Lineage {
        match &self.origin {
            Origin::Commit(commit) => Lineage::at(Arc::clone(commit)),
            Origin::Head(lineage) => lineage.clone(),
        }
    }
}

impl WorkspaceState {
    /// Keeps a state of a head under its revision, for as long as a checkpoint has it or a head is made from it.
    pub(super) fn keep(&mut self, tree: &Tree, lineage: Lineage) {
        match self.revisions.entry(tree.revision()) {
            Entry::Occupied(mut named) => {
                if let Origin::Head(before) = &mut named.get_mut().origin {
                    *before = lineage;
                }
            }
            Entry::Vacant(place) => {
                place.insert(Named {
                    tree: tree.clone(),
                    origin: Origin::Head(lineage),
                });
            }
        }
    }

    /// Keeps a state that a branch has, for good. Whatever is merged there from now on can start from it.
    pub(super) fn keep_commit(&mut self, commit: &Arc<Commit>) {
        let revision = commit.tree.revision();
        let known = self.revisions.get(&revision).map(|named| &named.origin);
        if matches!(known, Some(Origin::Commit(known)) if known.is_later(commit)) {
            return;
        }
        let named = Named {
            tree: commit.tree.clone(),
            origin: Origin::Commit(Arc::clone(commit)),
        };
        self.revisions.insert(revision, named);
    }

    /// Has a name for a state that a head is made from, for as long as that lives.
    pub(super) fn keep_base(&mut self, base: &Tree, lineage: &Lineage) -> String {
        let revision = base.revision();
        let named = self.revisions.entry(revision.clone());
        named.or_insert_with(|| Named {
            tree: base.clone(),
            origin: Origin::Head(lineage.clone()),
        });
        revision
    }

    /// Notes that a branch holds a head's state by now, so that merges of whatever is made from it start there.
    pub(super) fn note_merged(&mut self, work: &Arc<Commit>) {
        let named = self.revisions.get_mut(&work.tree.revision());
        if let Some(Origin::Head(lineage)) = named.map(|named| &mut named.origin) {
            lineage.merged = Some(Arc::clone(work));
        }
    }

    /// Where the head stood that took a checkpoint.
    pub(super) fn lineage_at(&self, checkpoint: &WorkspaceCheckpoint) -> Option<Lineage> {
        let named = self.revisions.get(&checkpoint.revision)?;
        let maker = self.heads.get(&checkpoint.head_id);
        let known = maker.and_then(|maker| {
            if let Some((kept, lineage)) = maker.kept.get(checkpoint.number) {
                return (kept.revision == checkpoint.revision).then(|| lineage.clone());
            }
            // What needed no record is a commit of its branch.
            let own = maker.commits.get(&checkpoint.revision).cloned();
            own.map(Lineage::at)
        });
        Some(known.unwrap_or_else(|| named.lineage()))
    }

    /// Forgets the name of a state unless a branch had it, a head is made from it, or a checkpoint has it.
    pub(super) fn forget(&mut self, revision: &str) -> Option<Named> {
        if let Origin::Commit(_) = self.revisions.get(revision)?.origin {
            return None;
        }
        let needs = |head: &HeadState| {
            let is_made_from = head.receipt.is_none() && head.descriptor.base == revision;
            is_made_from || head.kept.holds(revision)
        };
        if self.heads.iter().any(needs) {
            return None;
        }
        self.revisions.remove(revision)
    }

    /// The states that receipts of destroyed heads name, and those that living heads were forked from.
    pub(super) fn needed(&self) -> BTreeSet<String> {
        let needed = self.heads.iter().filter_map(|head| match &head.receipt {
            Some(receipt) => receipt.checkpoint.as_ref().map(|kept| &kept.revision),
            None => head.origin.as_ref(),
        });
        needed.cloned().collect()
    }
}
