use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use super::lineage::Lineage;
use super::state::{HeadState, WorkspaceState};
use crate::memory::Tree;

/// A state that has a name.
#[derive(Debug)]
pub(super) struct Named {
    tree: Tree,
    /// That of the head that kept the state last; none when a branch had it: then it stays for good, and merges of a head
    /// that is made from it start there.
    lineage: Option<Lineage>,
}

impl Named {
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn lineage(&self) -> Lineage {
        let lineage = self.lineage.clone();
        lineage.unwrap_or_else(|| Lineage::at(self.tree.clone()))
    }
}

impl WorkspaceState {
    /// Keeps a state of a head under its revision, for as long as a checkpoint has it or a head is made from it.
    pub(super) fn keep(&mut self, tree: &Tree, lineage: Lineage) {
        match self.revisions.entry(tree.revision()) {
            Entry::Occupied(mut named) => {
                if let Some(before) = &mut named.get_mut().lineage {
                    *before = lineage;
                }
            }
            Entry::Vacant(place) => {
                place.insert(Named {
                    tree: tree.clone(),
                    lineage: Some(lineage),
                });
            }
        }
    }

    /// Keeps a state that a branch has, for good. Whatever is merged there from now on can start from it.
    pub(super) fn keep_branch(&mut self, tree: &Tree) -> String {
        let revision = tree.revision();
        let named = Named {
            tree: tree.clone(),
            lineage: None,
        };
        self.revisions.insert(revision.clone(), named);
        revision
    }

    /// Has a name for a state that a head is made from, for as long as that lives.
    pub(super) fn keep_base(&mut self, base: &Tree, lineage: &Lineage) -> String {
        let revision = base.revision();
        let named = self.revisions.entry(revision.clone());
        named.or_insert_with(|| Named {
            tree: base.clone(),
            lineage: Some(lineage.clone()),
        });
        revision
    }

    /// Notes that a branch holds a head's state by now, so that merges of whatever is made from it start there. Gives what
    /// is no longer needed.
    pub(super) fn note_merged(&mut self, branch: &str, state: &Tree) -> Option<Tree> {
        let named = self.revisions.get_mut(&state.revision())?;
        let lineage = named.lineage.as_mut()?;
        lineage.merged.set(branch, state.clone())
    }

    /// Forgets the name of a state unless a branch had it, a head is made from it, or a checkpoint has it.
    pub(super) fn forget(&mut self, revision: &str) -> Option<Named> {
        self.revisions.get(revision)?.lineage.as_ref()?;
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
