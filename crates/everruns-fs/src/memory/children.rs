use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use super::looked::Looked;
use super::name::{Name, Start, Wanted};
use super::node::Node;

/// The most entries of one run. Small enough to copy at once, large enough to keep the list of runs short.
const MAX_RUN: usize = 128;

type Entry = (Name, Node);

/// Neighbouring entries.
#[derive(Clone, Debug)]
struct Run {
    entries: Vec<Entry>,
    looked: Looked,
}

impl Run {
    fn entries(&self) -> &[Entry] {
        self.looked.note();
        &self.entries
    }

    fn entries_mut(&mut self) -> &mut Vec<Entry> {
        self.looked.note();
        &mut self.entries
    }
}

/// A run in the list of a folder.
#[derive(Clone, Debug)]
struct Listed {
    /// The beginning of the run's first name, so that the right run is found without looking into the others.
    start: Start,
    run: Arc<Run>,
}

impl Listed {
    fn new(entries: Vec<Entry>) -> Option<Self> {
        Some(Self {
            start: entries.first()?.0.start(),
            run: Arc::new(Run {
                entries,
                looked: Looked::default(),
            }),
        })
    }

    /// Changes the run, which becomes this folder's own. `false` says that nothing is left of it.
    fn change<T>(&mut self, change: impl FnOnce(&mut Vec<Entry>) -> T) -> (T, bool) {
        let entries = Arc::make_mut(&mut self.run).entries_mut();
        let done = change(entries);
        match entries.first() {
            Some((first, _)) => {
                self.start = first.start();
                (done, true)
            }
            None => (done, false),
        }
    }

    fn starts_after(&self, name: Wanted<'_>) -> bool {
        match self.start.cmp(&name.start) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => {
                let first = self.run.entries().first();
                first.is_some_and(|(first, _)| first.compare(name).is_gt())
            }
        }
    }
}

/// The entries of a folder, sorted by name in byte order, in runs that copies of the folder share.
///
/// A change in a copy copies the list of runs and one run, so it stays cheap in folders of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    /// None is empty, and names rise from run to run.
    runs: Vec<Listed>,
}

impl Children {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        let name = Wanted::new(name);
        let run = self.runs.get(self.run_of(name))?.run.entries();
        let at = position(run, name).ok()?;
        run.get(at).map(|(_, node)| node)
    }

    /// The node of `name`, to be changed; its run becomes this folder's own.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let name = Wanted::new(name);
        let at = self.run_of(name);
        let run = &mut self.runs.get_mut(at)?.run;
        let at = position(run.entries(), name).ok()?;
        Arc::make_mut(run)
            .entries_mut()
            .get_mut(at)
            .map(|(_, node)| node)
    }

    /// Gives the node that had the name.
    pub(super) fn insert(&mut self, name: &str, node: Node) -> Option<Node> {
        let wanted = Wanted::new(name);
        let index = self.run_of(wanted);
        let Some(listed) = self.runs.get_mut(index) else {
            self.runs.extend(Listed::new(vec![(Name::new(name), node)]));
            return None;
        };
        let ((replaced, second), _) = listed.change(|run| {
            let replaced = match position(run, wanted) {
                Ok(at) => Some(mem::replace(&mut run[at].1, node)),
                Err(at) => {
                    run.insert(at, (Name::new(name), node));
                    None
                }
            };
            let second = (run.len() > MAX_RUN).then(|| run.split_off(MAX_RUN / 2));
            (replaced, second)
        });
        if let Some(second) = second.and_then(Listed::new) {
            self.runs.insert(index + 1, second);
        }
        replaced
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Node> {
        let name = Wanted::new(name);
        let index = self.run_of(name);
        let listed = self.runs.get_mut(index)?;
        let at = position(listed.run.entries(), name).ok()?;
        let ((_, node), is_left) = listed.change(|run| run.remove(at));
        if !is_left {
            self.runs.remove(index);
        }
        Some(node)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        self.runs
            .iter()
            .flat_map(|listed| listed.run.entries().iter())
            .map(pair)
    }

    /// The entries with names after this one.
    pub(super) fn after(&self, name: &str) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        let rest = self.runs.get(self.run_of(Wanted::new(name))..);
        let entries = rest.unwrap_or_default().iter();
        let entries = entries
            .flat_map(|listed| listed.run.entries().iter())
            .map(pair);
        entries.skip_while(move |(other, _)| other.as_ref() <= name)
    }

    /// The names in either of two folders, sorted, without those in runs that both share.
    pub(super) fn names_apart<'a>(
        one: Option<&'a Self>,
        two: Option<&'a Self>,
    ) -> BTreeSet<&'a Arc<str>> {
        let runs = |side: Option<&'a Self>| side.map_or(&[] as &[_], |side| side.runs.as_slice());
        let addresses = |side: Option<&'a Self>| -> BTreeSet<_> {
            runs(side)
                .iter()
                .map(|listed| Arc::as_ptr(&listed.run))
                .collect()
        };
        let (in_one, in_two) = (addresses(one), addresses(two));
        let is_shared = |listed: &&Listed| {
            let at = Arc::as_ptr(&listed.run);
            in_one.contains(&at) && in_two.contains(&at)
        };
        let all = runs(one).iter().chain(runs(two));
        let apart = all.filter(|listed| !is_shared(listed));
        apart
            .flat_map(|listed| listed.run.entries().iter())
            .map(|(name, _)| &name.whole)
            .collect()
    }

    /// How many runs of this folder and all below were looked at since this was last asked.
    #[cfg(test)]
    pub(super) fn take_looked(&self) -> usize {
        let of_run = |listed: &Listed| {
            let own = usize::from(listed.run.looked.take());
            let below = listed.run.entries.iter().map(|(_, node)| match node {
                Node::Folder(folder) => folder.children().take_looked(),
                Node::File(_) => 0,
            });
            own + below.sum::<usize>()
        };
        self.runs.iter().map(of_run).sum()
    }

    /// The run that holds `name`, or would: the last one that does not start after it.
    fn run_of(&self, name: Wanted<'_>) -> usize {
        if self.runs.len() < 2 {
            return 0;
        }
        let after = self
            .runs
            .partition_point(|listed| !listed.starts_after(name));
        after.saturating_sub(1)
    }
}

fn position(run: &[Entry], name: Wanted<'_>) -> Result<usize, usize> {
    run.binary_search_by(|(other, _)| other.compare(name))
}

fn pair(entry: &Entry) -> (&Arc<str>, &Node) {
    (&entry.0.whole, &entry.1)
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
                // Some are alike for longer than what is kept beside a name.
                let alike = if key % 3 == 0 { "0 a long beginning that many share " } else { "" };
                let name = format!("{alike}{key}");
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
