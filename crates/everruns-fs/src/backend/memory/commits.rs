use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::workspace::CommitIdentity;

use crate::memory::Tree;

/// A state, and the commits that it was made from.
pub(super) struct Commit {
    pub(super) tree: Tree,
    pub(super) note: Note,
    parents: Vec<Arc<Self>>,
    /// Larger than that of each parent.
    generation: u64,
}

/// What is said of a commit.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) message: String,
    /// Who was named; nobody is made up.
    pub(super) author: Option<CommitIdentity>,
    pub(super) at: Timestamp,
}

impl Note {
    /// Of a commit that nobody made.
    pub(super) fn nothing(at: Timestamp) -> Self {
        Self {
            message: String::new(),
            author: None,
            at,
        }
    }
}

impl Commit {
    pub(super) fn new(tree: Tree, parents: Vec<Arc<Self>>, note: Note) -> Arc<Self> {
        let generation = parents.iter().map(|parent| parent.generation + 1).max();
        Arc::new(Self {
            tree,
            note,
            parents,
            generation: generation.unwrap_or_default(),
        })
    }

    /// Whether somebody made it: the first one of a workspace, and what only notes a merge that changed nothing, nobody did.
    pub(super) fn is_told(&self) -> bool {
        !self.note.message.is_empty()
    }

    /// Whether it comes later than `other`, as far as numbers of steps tell.
    pub(super) fn is_later(&self, other: &Self) -> bool {
        self.generation > other.generation
    }

    /// Whether `self` is `other`, or one that `other` was made from.
    pub(super) fn is_in(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        merge_base(self, other).is_some_and(|base| Arc::ptr_eq(&base, self))
    }
}

/// The latest commit that both were made from, either of them included. The cost follows what is newer than that.
pub(super) fn merge_base(one: &Arc<Commit>, other: &Arc<Commit>) -> Option<Arc<Commit>> {
    const BOTH: u8 = 0b11;
    let mut waiting = Waiting::default();
    waiting.add(one, 0b01);
    waiting.add(other, 0b10);
    while let Some((commit, sides)) = waiting.next() {
        // Whatever leads to it is newer, and so was looked at before.
        if sides == BOTH {
            return Some(commit);
        }
        for parent in &commit.parents {
            waiting.add(parent, sides);
        }
    }
    None
}

/// The commits that lead to `tip`, it included, each before those that it was made from.
pub(super) fn history(tip: &Arc<Commit>) -> impl Iterator<Item = Arc<Commit>> {
    let mut waiting = Waiting::default();
    waiting.add(tip, 0);
    std::iter::from_fn(move || {
        let (commit, _) = waiting.next()?;
        for parent in &commit.parents {
            waiting.add(parent, 0);
        }
        Some(commit)
    })
}

/// Commits that wait to be looked at, and the sides from which they were reached.
#[derive(Default)]
struct Waiting(BTreeMap<(u64, Timestamp, usize), (Arc<Commit>, u8)>);

impl Waiting {
    fn add(&mut self, commit: &Arc<Commit>, sides: u8) {
        // The address tells commits of one moment apart.
        let address = Arc::as_ptr(commit).addr();
        let place = (commit.generation, commit.note.at, address);
        let entry = self.0.entry(place);
        entry.or_insert_with(|| (Arc::clone(commit), 0)).1 |= sides;
    }

    /// The one that is furthest from the first commit.
    fn next(&mut self) -> Option<(Arc<Commit>, u8)> {
        self.0.pop_last().map(|(_, found)| found)
    }
}

/// Not with all that it was made from, which may be long.
impl fmt::Debug for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit")
            .field("revision", &self.tree.revision())
            .field("note", &self.note)
            .finish_non_exhaustive()
    }
}

/// One after the other: each freeing the next would take a stack as deep as the history is long.
impl Drop for Commit {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.parents);
        while let Some(parent) = left.pop() {
            if let Some(mut parent) = Arc::into_inner(parent) {
                left.append(&mut parent.parents);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use everruns_testkit::doubles::SeededEntropy;

    use super::*;
    use crate::memory::DigestKey;

    fn commit(parents: &[&Arc<Commit>]) -> Arc<Commit> {
        let note = Note::nothing(Timestamp::default());
        let key = DigestKey::new(&SeededEntropy::new(1));
        let tree = Tree::empty(key, Timestamp::default());
        let parents = parents.iter().map(|parent| Arc::clone(parent)).collect();
        Commit::new(tree, parents, note)
    }

    fn is_base(one: &Arc<Commit>, other: &Arc<Commit>, expected: &Arc<Commit>) -> bool {
        [(one, other), (other, one)]
            .into_iter()
            .all(|(one, other)| Arc::ptr_eq(&merge_base(one, other).unwrap(), expected))
    }

    #[test]
    fn the_latest_common_one_is_the_base() {
        let first = commit(&[]);
        let main = commit(&[&first]);
        let work = commit(&[&first]);
        assert!(is_base(&main, &work, &first));
        assert!(is_base(&work, &work, &work));
        assert!(is_base(&first, &work, &first));
        let joined = commit(&[&main, &work]);
        let later = commit(&[&commit(&[&work])]);
        assert!(is_base(&joined, &later, &work));
        assert!(main.is_in(&joined) && first.is_in(&later) && !main.is_in(&later));
        assert!(merge_base(&commit(&[]), &first).is_none());
        assert_eq!(history(&joined).count(), 4);
    }

    #[test]
    fn a_long_history_is_freed_and_shown() {
        let mut tip = commit(&[]);
        for _ in 0..200_000 {
            tip = commit(&[&tip]);
        }
        assert!(format!("{tip:?}").len() < 500);
        drop(tip);
    }
}
