use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::Tree;

/// A head's states at its last merge into each branch, which are where its next merges start from. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged(Arc<BTreeMap<String, Tree>>);

impl Merged {
    pub(super) fn last_into(&self, branch: &str) -> Option<&Tree> {
        self.0.get(branch)
    }

    pub(super) fn branches(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Gives the state at the merge before.
    pub(super) fn set(&mut self, branch: &str, head: Tree) -> Option<Tree> {
        Arc::make_mut(&mut self.0).insert(branch.to_owned(), head)
    }
}
