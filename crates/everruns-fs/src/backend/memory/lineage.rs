use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::workspace::MergeConflict;

use super::commits::{Commit, Note};
use crate::memory::Tree;

/// Where a head stands among the commits.
#[derive(Clone, Debug)]
pub(super) struct Lineage {
    /// The last commit of its branch.
    pub(super) last: Arc<Commit>,
    /// The state that was last merged elsewhere without being committed. The next merge starts from it.
    pub(super) merged: Option<Arc<Commit>>,
    /// The merge that the next commit concludes.
    pub(super) unfinished: Option<Arc<Unfinished>>,
}

/// A merge into a head that left conflicts in its files.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// What is merged.
    pub(super) from: Arc<Commit>,
    pub(super) conflicts: Vec<MergeConflict>,
    /// What its commit says unless another message is given.
    pub(super) message: String,
}

impl Lineage {
    pub(super) fn at(last: Arc<Commit>) -> Self {
        Self {
            last,
            merged: None,
            unfinished: None,
        }
    }

    /// Where a head begins for which the state `base` of a head that stands here is what it is made from.
    pub(super) fn beginning(&self, base: &Tree, note: Note) -> Self {
        if self.is_committed(base) {
            return Self::at(Arc::clone(&self.last));
        }
        let parents = std::iter::once(&self.last).chain(&self.merged);
        Self::at(Commit::new(base.clone(), parents.cloned().collect(), note))
    }

    /// Whether the last commit is all of `files`, and nothing else was merged.
    pub(super) fn is_committed(&self, files: &Tree) -> bool {
        self.unfinished.is_none()
            && files.revision() == self.last.tree.revision()
            && self.merges_from().has_same_files(&self.last.tree)
    }

    /// Whether files of `files` differ from the last commit's.
    pub(super) fn is_changed(&self, files: &Tree) -> bool {
        self.unfinished.is_some() || !files.has_same_files(&self.last.tree)
    }

    /// Whether both are at the same commit, in the same merge if in any, and merge what has changed since the same files.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.is_at_same(other) && self.merges_from().has_same_files(other.merges_from())
    }

    /// Whether both are at the same commit, in the same merge if in any.
    pub(super) fn is_at_same(&self, other: &Self) -> bool {
        let merge = |one: &Self| one.unfinished.as_ref().map(Arc::as_ptr);
        Arc::ptr_eq(&self.last, &other.last) && merge(self) == merge(other)
    }

    /// The state since which changes are merged.
    fn merges_from(&self) -> &Tree {
        let from = self.merged_only().unwrap_or(&self.last);
        &from.tree
    }

    /// What was merged elsewhere and is in no commit of the head's branch.
    pub(super) fn merged_only(&self) -> Option<&Arc<Commit>> {
        let merged = self.merged.as_ref();
        merged.filter(|merged| !merged.is_in(&self.last))
    }

    /// The commit that stands for `files`: the last one if that is all, else one that no branch has.
    pub(super) fn work(&self, files: &Tree, head: &str, at: Timestamp) -> Arc<Commit> {
        let is_all = |commit: &Arc<Commit>| commit.tree.revision() == files.revision();
        let merged = self.merged_only();
        match merged {
            None if is_all(&self.last) => return Arc::clone(&self.last),
            Some(merged) if is_all(merged) && self.last.is_in(merged) => return Arc::clone(merged),
            _ => {}
        }
        let parents = std::iter::once(&self.last).chain(merged);
        let note = Note {
            message: format!("Work of the head {head}\n"),
            author: None,
            at,
        };
        Commit::new(files.clone(), parents.cloned().collect(), note)
    }
}
