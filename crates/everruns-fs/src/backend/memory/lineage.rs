use super::merged::Merged;
use crate::memory::Tree;

/// Where the merges of a head start from.
#[derive(Clone, Debug)]
pub(super) struct Lineage {
    /// The state of a branch that the head began with, itself or by the checkpoint that it was made from.
    pub(super) branch: Tree,
    pub(super) merged: Merged,
}

impl Lineage {
    /// That of a head that begins with a state of a branch.
    pub(super) fn at(branch: Tree) -> Self {
        Self {
            branch,
            merged: Merged::default(),
        }
    }

    /// What a merge into `branch` starts from.
    pub(super) fn base_of(&self, branch: &str) -> &Tree {
        self.merged.last_into(branch).unwrap_or(&self.branch)
    }

    /// Whether merges into any branch start from the same files.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let mut branches = self.merged.branches().chain(other.merged.branches());
        self.branch.has_same_files(&other.branch)
            && branches.all(|branch| self.base_of(branch).has_same_files(other.base_of(branch)))
    }
}
