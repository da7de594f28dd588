use std::sync::Arc;

use super::apart::{AllApart, Apart};
use super::block::{Block, Entry};
use super::entries::Entries;
use super::name::Wanted;
use super::node::Node;

/// The entries of a folder, sorted by name in byte order, in a tree of blocks that copies of the folder share.
///
/// A change in a copy copies the few blocks that lead to the entry, so it stays cheap in folders of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    all: Block,
}

impl Children {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.all.get(Wanted::new(name))
    }

    /// The node of `name`, to be changed; the blocks that it is in become this folder's own.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.all.get_mut(Wanted::new(name))
    }

    /// Gives the node that had the name.
    pub(super) fn insert(&mut self, name: &str, node: Node) -> Option<Node> {
        self.all.insert(Wanted::new(name), node)
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Node> {
        self.all.remove(Wanted::new(name))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        Entries::all(&self.all).map(pair)
    }

    /// The entries with names after this one.
    pub(super) fn after(&self, name: &str) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        Entries::after(&self.all, name).map(pair)
    }

    /// What two folders have at each name, in order, without names in blocks that both share.
    pub(super) fn apart<'a>(
        before: Option<&'a Self>,
        after: Option<&'a Self>,
    ) -> impl Iterator<Item = Apart<'a>> {
        let block = |folder: Option<&'a Self>| folder.map(|folder| &folder.all);
        AllApart::new(block(before), block(after))
    }

    /// How many blocks of this folder and of all below were looked at since this was last asked.
    #[cfg(test)]
    pub(super) fn take_looked(&self) -> usize {
        self.all.take_looked()
    }
}

fn pair(entry: &Entry) -> (&Arc<str>, &Node) {
    (&entry.0.whole, &entry.1)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use everruns_core::clock::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn names(children: &Children) -> Vec<String> {
        children.iter().map(|(name, _)| name.to_string()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Entries in blocks are what entries in a set are, and a copy keeps its own.
        #[test]
        fn blocks_agree_with_a_set(steps in prop::collection::vec((0_u32..600, 0_u8..4), 0..1_200)) {
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
                children.all.check();
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

    /// Numbers in an order without any, the same for the same seed.
    fn shuffled(count: u64, seed: u64) -> Vec<u64> {
        let mut all: Vec<u64> = (0..count).collect();
        let mut state = seed | 1;
        for at in (1..all.len()).rev() {
            // A step of xorshift.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let with = state % (at as u64 + 1);
            all.swap(at, usize::try_from(with).unwrap());
        }
        all
    }

    fn agree(children: &Children, map: &BTreeMap<String, i64>) {
        children.all.check();
        let all = children.iter().map(|(name, node)| {
            let at = node.stat().modified.unwrap();
            (name.to_string(), at.as_millis())
        });
        assert!(all.eq(map.iter().map(|(name, &at)| (name.clone(), at))));
    }

    /// Blocks of blocks of blocks are filled in random order and emptied in another, and each copy that is made on the way
    /// keeps what it had.
    #[test]
    fn high_trees_agree_with_a_map() {
        for (seed, alike) in [(1, ""), (2, "a beginning that all share ")] {
            let count = 9_000;
            let name = |number: u64| format!("{alike}{number:x}");
            let (mut children, mut map) = (Children::default(), BTreeMap::new());
            let mut copies = Vec::new();
            let mut highest = 0;
            let steps = shuffled(count, seed)
                .into_iter()
                .map(|number| (number, true))
                .chain(
                    shuffled(count, seed + 10)
                        .into_iter()
                        .map(|number| (number, false)),
                );
            for (step, (number, is_insertion)) in steps.enumerate() {
                let name = name(number);
                let at = i64::try_from(step).unwrap();
                if is_insertion {
                    let node = Node::empty(Timestamp::from_millis(at));
                    assert!(children.insert(&name, node).is_none());
                    map.insert(name, at);
                    // Another comes and goes, and one that is there is written again.
                    let other = format!("{alike}{:x}", number / 2);
                    if let Some(there) = map.get_mut(&other) {
                        let node = Node::empty(Timestamp::from_millis(-at));
                        assert!(children.insert(&other, node).is_some());
                        *there = -at;
                    } else if step % 3 == 0 {
                        let other = format!("{alike}{number:x}+");
                        children.insert(&other, Node::empty(Timestamp::default()));
                        assert!(children.remove(&other).is_some());
                        assert!(children.remove(&other).is_none());
                    }
                } else {
                    let removed = children.remove(&name).unwrap();
                    assert_eq!(removed.stat().modified.unwrap().as_millis(), map[&name]);
                    map.remove(&name);
                    assert!(children.get(&name).is_none());
                }
                highest = highest.max(children.all.height());
                if step % 1_500 == 700 || map.len() < 3 {
                    agree(&children, &map);
                    if copies.len() < 20 {
                        copies.push((children.clone(), map.clone()));
                    }
                }
            }
            assert!(children.is_empty() && map.is_empty());
            assert_eq!(children.all.check(), 1, "nothing is left of the blocks");
            assert!(highest >= 2, "{highest} blocks high");
            for (copy, map) in &copies {
                agree(copy, map);
            }
            // Any two copies are told apart where they differ, and nowhere else.
            for ((before, old), (after, new)) in copies.iter().zip(&copies[1..]) {
                let mut differ: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                differ.retain(|name| old.get(*name) != new.get(*name));
                let told: Vec<String> = Children::apart(Some(before), Some(after))
                    .filter(|apart| apart.before.map(Node::stat) != apart.after.map(Node::stat))
                    .map(|apart| apart.name.to_string())
                    .collect();
                assert!(told.iter().eq(differ));
            }
        }
    }

    /// Whole inner blocks are emptied, from either end and from the middle, and filled again.
    #[test]
    fn inner_blocks_come_and_go() {
        let count: i64 = 9_000;
        let full = {
            let mut full = Children::default();
            for number in shuffled(count.unsigned_abs(), 3) {
                full.insert(&format!("{number:06}"), Node::empty(Timestamp::default()));
            }
            full
        };
        let height = full.all.height();
        assert!(height >= 2, "{height} blocks high");
        for gone in [0..count, 0..8_000, 1_000..count, 2_000..7_000, 4_499..4_501] {
            for is_falling in [false, true] {
                let mut children = full.clone();
                let mut numbers: Vec<i64> = gone.clone().collect();
                if is_falling {
                    numbers.reverse();
                }
                for (step, number) in numbers.iter().enumerate() {
                    assert!(children.remove(&format!("{number:06}")).is_some());
                    if step % 997 == 0 {
                        children.all.check();
                    }
                }
                children.all.check();
                let left = (0..count).filter(|number| !gone.contains(number));
                assert!(
                    names(&children)
                        .into_iter()
                        .eq(left.map(|number| format!("{number:06}")))
                );
                let apart = Children::apart(Some(&full), Some(&children));
                let told = apart.filter(|apart| apart.after.is_none()).count();
                assert_eq!(told, numbers.len());
                for number in numbers.iter().rev().step_by(2) {
                    children.insert(&format!("{number:06}"), Node::empty(Timestamp::default()));
                }
                children.all.check();
                assert_eq!(names(&full).len(), 9_000);
            }
        }
    }

    /// The names at which two folders differ, told apart one by one.
    fn differing(before: &Children, after: &Children) -> BTreeSet<String> {
        let all = before.iter().chain(after.iter());
        let is_apart = |name: &Arc<str>| match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) => before.stat() != after.stat(),
            _ => true,
        };
        all.filter(|(name, _)| is_apart(name))
            .map(|(name, _)| name.to_string())
            .collect()
    }

    fn many(count: i64) -> Children {
        let mut children = Children::default();
        for number in 0..count {
            let at = Timestamp::from_millis(number);
            children.insert(&format!("{number:06}"), Node::empty(at));
        }
        children
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Two folders are told apart at each name where they differ, in order, with what both have there.
        #[test]
        fn what_differs_is_found(
            count in 0_i64..2_000,
            one in prop::collection::vec((0_i64..2_500, 0_u8..3), 0..80),
            two in prop::collection::vec((0_i64..2_500, 0_u8..3), 0..80),
        ) {
            let common = many(count);
            let mut sides = [common.clone(), common];
            for (side, steps) in sides.iter_mut().zip([one, two]) {
                for (number, kind) in steps {
                    let name = format!("{number:06}");
                    match kind {
                        0 => drop(side.remove(&name)),
                        1 => drop(side.insert(&name, Node::empty(Timestamp::from_millis(-1)))),
                        _ => drop(side.insert(&format!("{name}+"), Node::empty(Timestamp::default()))),
                    }
                    side.all.check();
                }
            }
            let [before, after] = &sides;
            let mut found = BTreeSet::new();
            let mut last = None;
            for apart in Children::apart(Some(before), Some(after)) {
                prop_assert!(last < Some(apart.name), "names rise");
                last = Some(apart.name);
                let stat = |node: Option<&Node>| node.map(Node::stat);
                prop_assert_eq!(stat(apart.before), stat(before.get(apart.name)));
                prop_assert_eq!(stat(apart.after), stat(after.get(apart.name)));
                if stat(apart.before) != stat(apart.after) {
                    found.insert(apart.name.to_string());
                }
            }
            prop_assert_eq!(found, differing(before, after));
        }
    }

    #[test]
    fn one_folder_alone_is_all_apart() {
        let all = many(1_000);
        let nothing = Children::default();
        let told = |before, after| Children::apart(before, after).count();
        assert_eq!(told(Some(&all), None), 1_000);
        assert_eq!(told(None, Some(&all)), 1_000);
        assert_eq!(told(Some(&all), Some(&nothing)), 1_000);
        assert_eq!(told(None, None), 0);
    }

    /// In a folder of any size, what a change copies and what tells two copies apart stays a few blocks.
    #[test]
    fn only_blocks_that_differ_are_looked_at() {
        let mut looked = Vec::new();
        for count in [1_000, 30_000] {
            let one = many(count);
            let mut two = one.clone();
            one.take_looked();
            let middle = format!("{:06}", count / 2);
            two.remove(&middle);
            two.insert("new", Node::empty(Timestamp::default()));
            *two.get_mut("000000").unwrap() = Node::empty(Timestamp::from_millis(9));
            let names: Vec<String> = Children::apart(Some(&one), Some(&two))
                .filter(|apart| apart.before.map(Node::stat) != apart.after.map(Node::stat))
                .map(|apart| apart.name.to_string())
                .collect();
            assert_eq!(names, ["000000", &middle, "new"]);
            looked.push(one.take_looked());
        }
        // Three ways down, each one block longer in the larger folder.
        assert!(looked[0] <= 7 && looked[1] <= 10, "{looked:?} blocks");
    }

    /// Names that come in order fill the blocks, and those that come from behind or in the middle leave no crumbs.
    #[test]
    fn blocks_are_filled() {
        let count = 10_000;
        let names: Vec<String> = (0..count).map(|number| format!("{number:06}")).collect();
        let blocks_of = |names: &mut dyn Iterator<Item = &String>| {
            let mut children = Children::default();
            for name in names {
                children.insert(name, Node::empty(Timestamp::default()));
            }
            children.all.check()
        };
        let rising = blocks_of(&mut names.iter());
        assert!(rising < count / 50, "{rising} blocks");
        let falling = blocks_of(&mut names.iter().rev());
        assert!(falling < count / 25, "{falling} blocks");
        let mixed = blocks_of(&mut (0..count).map(|number| &names[number * 7_919 % count]));
        assert!(mixed < count / 30, "{mixed} blocks");
    }
}
