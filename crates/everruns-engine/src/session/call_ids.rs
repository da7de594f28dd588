use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The ids of all calls of a conversation, to ask of a new one whether it is among them, however many there are.
///
/// Of each there is a hash alone. Two ids of one hash are taken for one, and the new call then gets another id than its
/// model gave it, which does no harm.
#[derive(Debug, Default)]
pub(crate) struct CallIds(HashSet<u64>);

impl CallIds {
    pub(crate) fn insert(&mut self, id: &str) {
        self.0.insert(hash(id));
    }

    /// Whether a call of the conversation, or one that it went back from, has this id.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.0.contains(&hash(id))
    }

    /// About what they take in memory.
    pub(super) fn weight(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
