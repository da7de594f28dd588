use everruns_core::clock::Timestamp;

use super::below::Below;
use super::children::Children;
use super::digest::{Digest, DigestKey};
use super::node::Node;

/// A folder. It changes only while nothing shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    children: Children,
    modified: Timestamp,
    below: Below,
}

impl Folder {
    pub(super) fn at(modified: Timestamp) -> Self {
        Self {
            modified,
            ..Self::default()
        }
    }

    pub(super) fn children(&self) -> &Children {
        &self.children
    }

    pub(super) fn modified(&self) -> Timestamp {
        self.modified
    }

    pub(super) fn below(&self) -> &Below {
        &self.below
    }

    /// Whether all files below are the same, whenever they were written. Both are of trees of one key.
    pub(super) fn has_same_files(&self, other: &Self) -> bool {
        self.below.files == other.below.files
    }

    /// Whether there is a file anywhere below.
    pub(crate) fn has_files(&self) -> bool {
        self.below.files != Digest::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    pub(super) fn insert(&mut self, key: DigestKey, name: &str, node: Node, now: Timestamp) {
        self.modified = now;
        self.below.add(Below::of_entry(key, name, &node));
        if let Some(replaced) = self.children.insert(name, node) {
            self.below.remove(Below::of_entry(key, name, &replaced));
        }
    }

    pub(super) fn remove(&mut self, key: DigestKey, name: &str, now: Timestamp) -> Option<Node> {
        let taken = self.children.remove(name)?;
        self.modified = now;
        self.below.remove(Below::of_entry(key, name, &taken));
        if self.is_empty() {
            self.below = Below::default();
        }
        Some(taken)
    }

    /// Changes something further below, in the entry of this name; the folder's own time stays.
    pub(super) fn change<T>(
        &mut self,
        key: DigestKey,
        name: &str,
        change: impl FnOnce(&mut Node) -> T,
    ) -> Option<T> {
        let node = self.children.get_mut(name)?;
        self.below.remove(Below::of_entry(key, name, node));
        let done = change(node);
        self.below.add(Below::of_entry(key, name, node));
        Some(done)
    }
}
