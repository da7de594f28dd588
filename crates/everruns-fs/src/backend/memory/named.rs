use std::collections::BTreeSet;

use super::merged::Merged;
use super::state::WorkspaceState;
use crate::memory::Tree;

/// Where the merges of a head start from.
#[derive(Clone, Debug)]
pub(super) struct Lineage {
    /// The state of a branch that the head began with, itself or by the checkpoint that it was made from.
    pub(super) branch: Tree,
    pub(super) merged: Merged,
}

/// A state that has a name.
#[derive(Debug)]
pub(super) struct Named {
    tree: Tree,
    /// Where merges of a head that is made from it start from; at the state itself when a branch had it.
    lineage: Option<Lineage>,
    /// Whether it stays when checkpoints are pruned: it is a base, or a branch had it.
    is_lasting: bool,
}

impl Named {
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn lineage(&self) -> Lineage {
        self.lineage.clone().unwrap_or_else(|| Lineage {
            branch: self.tree.clone(),
            merged: Merged::default(),
        })
    }
}

impl WorkspaceState {
    /// Keeps a state of a head under its revision, until its checkpoint is pruned.
    pub(super) fn keep(&mut self, tree: &Tree, lineage: Lineage) {
        self.revisions.entry(tree.revision()).or_insert(Named {
            tree: tree.clone(),
            lineage: Some(lineage),
            is_lasting: false,
        });
    }

    /// Keeps a state that a branch has, for good. Whatever is merged there from now on can start from it.
    pub(super) fn keep_branch(&mut self, tree: &Tree) -> String {
        let revision = tree.revision();
        let named = Named {
            tree: tree.clone(),
            lineage: None,
            is_lasting: true,
        };
        self.revisions.insert(revision.clone(), named);
        revision
    }

    /// Has a state that a head begins with stay for good.
    pub(super) fn keep_base(&mut self, base: &Tree) -> String {
        let revision = base.revision();
        if let Some(named) = self.revisions.get_mut(&revision) {
            named.is_lasting = true;
        }
        revision
    }

    /// Forgets the name of a state unless it stays for good, or another checkpoint has it.
    pub(super) fn forget(&mut self, revision: &str) -> Option<Named> {
        let is_lasting = self.revisions.get(revision)?.is_lasting;
        if is_lasting
            || self
                .heads
                .iter()
                .any(|head| head.kept.of(revision).is_some())
        {
            return None;
        }
        self.revisions.remove(revision)
    }

    /// The states that receipts of destroyed heads name, and those that heads were forked from.
    pub(super) fn needed(&self) -> BTreeSet<String> {
        let receipts = self.heads.iter().filter_map(|head| head.receipt.as_ref());
        let kept = receipts.filter_map(|receipt| receipt.kept_ref.clone());
        let origins = self.heads.iter().filter_map(|head| head.origin.clone());
        kept.chain(origins).collect()
    }
}
