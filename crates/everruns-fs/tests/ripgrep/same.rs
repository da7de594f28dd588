//! The comparison of one search with what `rg` finds.

use std::collections::BTreeSet;
use std::fmt::Debug;

/// Fails, with some of the differences, unless both are the same and there is something.
pub(crate) fn same<T: Ord + Debug>(what: &str, ours: &BTreeSet<T>, theirs: &BTreeSet<T>) {
    let only_ours: Vec<_> = ours.difference(theirs).take(5).collect();
    let only_theirs: Vec<_> = theirs.difference(ours).take(5).collect();
    assert!(
        only_ours.is_empty() && only_theirs.is_empty(),
        "{what}: {} of {} are only ours: {only_ours:#?}, and {} of {} only theirs: {only_theirs:#?}",
        ours.difference(theirs).count(),
        ours.len(),
        theirs.difference(ours).count(),
        theirs.len(),
    );
    assert!(!ours.is_empty(), "{what}: nothing was found");
}
