use std::collections::BTreeSet;
use std::sync::Arc;

use super::node::Node;

/// The most entries of one run. Small enough to copy at once, large enough to keep the list of runs short.
const MAX_RUN: usize = 128;

type Entry = (Arc<str>, Node);

/// Neighbouring entries.
#[derive(Clone, Debug)]
struct Run(Vec<Entry>);

/// The entries of a folder, sorted by name in byte order, in runs that copies of the folder share.
///
/// A change in a copy copies the list of runs and one run, so it stays cheap in folders of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    /// None is empty, and names rise from run to run.
    runs: Vec<Arc<Run>>,
}

impl Children {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        let run = self.runs.get(self.run_of(name))?;
        let at = position(&run.0, name).ok()?;
        run.0.get(at).map(|(_, node)| node)
    }

    /// The node of `name`, to be changed; its run becomes this folder's own.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let at = self.run_of(name);
        let run = self.runs.get_mut(at)?;
        let at = position(&run.0, name).ok()?;
        Arc::make_mut(run).0.get_mut(at).map(|(_, node)| node)
    }

    pub(super) fn insert(&mut self, name: &str, node: Node) {
        let index = self.run_of(name);
        let Some(run) = self.runs.get_mut(index) else {
            self.runs.push(Arc::new(Run(vec![(Arc::from(name), node)])));
            return;
        };
        let Run(run) = Arc::make_mut(run);
        match position(run, name) {
            Ok(at) => run[at].1 = node,
            Err(at) => run.insert(at, (Arc::from(name), node)),
        }
        if run.len() > MAX_RUN {
            let second = run.split_off(MAX_RUN / 2);
            self.runs.insert(index + 1, Arc::new(Run(second)));
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Node> {
        let index = self.run_of(name);
        let run = self.runs.get_mut(index)?;
        let at = position(&run.0, name).ok()?;
        let Run(run) = Arc::make_mut(run);
        let (_, node) = run.remove(at);
        if run.is_empty() {
            self.runs.remove(index);
        }
        Some(node)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        self.runs.iter().flat_map(|run| run.0.iter()).map(pair)
    }

    /// The entries with names after this one.
    pub(super) fn after(&self, name: &str) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        let rest = self.runs.get(self.run_of(name)..).unwrap_or_default();
        let entries = rest.iter().flat_map(|run| run.0.iter()).map(pair);
        entries.skip_while(move |(other, _)| other.as_ref() <= name)
    }

    /// The names in either of two folders, sorted, without those in runs that both share.
    pub(super) fn names_apart<'a>(
        one: Option<&'a Self>,
        two: Option<&'a Self>,
    ) -> BTreeSet<&'a Arc<str>> {
        let runs = |side: Option<&'a Self>| side.map_or(&[] as &[_], |side| side.runs.as_slice());
        let addresses = |side: Option<&'a Self>| -> BTreeSet<_> {
            runs(side).iter().map(Arc::as_ptr).collect()
        };
        let (in_one, in_two) = (addresses(one), addresses(two));
        let is_shared = |run: &&Arc<Run>| {
            let at = Arc::as_ptr(run);
            in_one.contains(&at) && in_two.contains(&at)
        };
        let all = runs(one).iter().chain(runs(two));
        let apart = all.filter(|run| !is_shared(run));
        apart
            .flat_map(|run| run.0.iter())
            .map(|(name, _)| name)
            .collect()
    }

    /// The run that holds `name`, or would: the last one that does not start after it.
    fn run_of(&self, name: &str) -> usize {
        let starts_before = |run: &Arc<Run>| {
            run.0
                .first()
                .is_some_and(|(first, _)| first.as_ref() <= name)
        };
        self.runs.partition_point(starts_before).saturating_sub(1)
    }
}

fn position(run: &[Entry], name: &str) -> Result<usize, usize> {
    run.binary_search_by(|(other, _)| other.as_ref().cmp(name))
}

fn pair(entry: &Entry) -> (&Arc<str>, &Node) {
    (&entry.0, &entry.1)
}

#[cfg(test)]
mod tests {
    use everruns_core::clock::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn names(children: &Children) -> Vec<String> {
        children.iter().map(|(name, _)| name.to_string()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Entries in runs are what entries in a set are, and a copy keeps its own.
        #[test]
        fn runs_agree_with_a_set(steps in prop::collection::vec((0_u32..600, 0_u8..4), 0..1_200)) {
            let (mut children, mut set) = (Children::default(), BTreeSet::new());
            let mut copies = Vec::new();
            for (index, (key, kind)) in steps.iter().enumerate() {
                let name = key.to_string();
                if *kind == 0 {
                    prop_assert_eq!(children.remove(&name).is_some(), set.remove(&name));
                } else {
                    children.insert(&name, Node::empty(Timestamp::from_millis(i64::from(*key))));
                    set.insert(name.clone());
                }
                prop_assert_eq!(children.get(&name).is_some(), set.contains(&name));
                if index % 300 == 0 {
                    copies.push((children.clone(), set.clone()));
                }
            }
            let after: Vec<String> = children.after("3").map(|(name, _)| name.to_string()).collect();
            let expected: Vec<String> = set.iter().filter(|name| name.as_str() > "3").cloned().collect();
            prop_assert_eq!(after, expected);
            prop_assert_eq!(children.is_empty(), set.is_empty());
            copies.push((children, set));
            for (children, set) in &copies {
                prop_assert_eq!(names(children), set.iter().cloned().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn only_runs_that_differ_are_looked_at() {
        let mut one = Children::default();
        for n in 0..10_000 {
            one.insert(&format!("{n:05}"), Node::empty(Timestamp::default()));
        }
        let mut two = one.clone();
        two.remove("05000");
        two.insert("new", Node::empty(Timestamp::default()));
        let apart = Children::names_apart(Some(&one), Some(&two));
        assert!(apart.iter().any(|name| name.as_ref() == "05000"));
        assert!(apart.iter().any(|name| name.as_ref() == "new"));
        assert!(apart.len() <= 3 * MAX_RUN, "{}", apart.len());
    }
}
