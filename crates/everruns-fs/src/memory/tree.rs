use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::path::WorkspacePath;

use super::digest::DigestKey;
use super::edit::in_folder;
use super::node::{File, Node};

/// A tree of files. Cloning shares it, and a change of one clone is not seen in the other.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    top: Node,
    key: DigestKey,
}

impl Tree {
    /// A tree of nothing; `key` is what its revisions are made with.
    pub(crate) fn empty(key: DigestKey, now: Timestamp) -> Self {
        Self {
            top: Node::empty(now),
            key,
        }
    }

    pub(super) fn top(&self) -> &Node {
        &self.top
    }

    /// The node at `path`.
    pub(crate) fn get(&self, path: &WorkspacePath) -> Option<&Node> {
        self.top.get(path)
    }

    /// The file at `path`.
    pub(crate) fn file(&self, path: &WorkspacePath) -> Option<&Arc<File>> {
        match self.get(path) {
            Some(Node::File(file)) => Some(file),
            _ => None,
        }
    }

    /// How many bytes all files together have.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.top.total_bytes()
    }

    /// What the state is called: made of its names, bytes and modes, and known without a look at them.
    pub(crate) fn revision(&self) -> String {
        self.key.revision(&self.top)
    }

    /// Whether both have the same files, whatever folders without any there are. Both are of one key.
    pub(crate) fn has_same_files(&self, other: &Self) -> bool {
        match (&self.top, &other.top) {
            (Node::Folder(one), Node::Folder(two)) => one.has_same_files(two),
            _ => false,
        }
    }

    /// Puts `node` at `path`, making missing folders. Nothing happens at the top or below a file.
    pub(crate) fn put(&mut self, path: &WorkspacePath, node: Node, now: Timestamp) {
        let mut way = path.components();
        if let Some(name) = way.next_back() {
            in_folder(&mut self.top, self.key, &mut way, Some(now), |folder| {
                folder.insert(self.key, name, node, now);
            });
        }
    }

    /// Takes the node at `path` out of the tree.
    pub(crate) fn take(&mut self, path: &WorkspacePath, now: Timestamp) -> Option<Node> {
        // Looked for first, so that nothing is copied for what isn't there.
        self.get(path)?;
        let mut way = path.components();
        let name = way.next_back()?;
        in_folder(&mut self.top, self.key, &mut way, None, |folder| {
            folder.remove(self.key, name, now)
        })?
    }

    /// How many parts of the tree were looked at since this was last asked; a part is a block of neighbours in a folder.
    #[cfg(test)]
    pub(crate) fn take_looked(&self) -> usize {
        match &self.top {
            Node::Folder(folder) => folder.children().take_looked(),
            Node::File(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;
    use everruns_testkit::doubles::SeededEntropy;
    use proptest::prelude::*;

    use super::super::changes;
    use super::*;

    /// What a tree holds, by path: bytes and executable bit of a file, nothing for a folder.
    type Content = BTreeMap<String, Option<(Bytes, bool)>>;

    fn key(seed: u64) -> DigestKey {
        DigestKey::new(&SeededEntropy::new(seed))
    }

    fn empty() -> Tree {
        Tree::empty(key(1), Timestamp::default())
    }

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    fn file(bytes: impl Into<Bytes>, executable: bool, at: i64) -> Node {
        let at = Timestamp::from_millis(at);
        Node::File(Arc::new(File::new(bytes.into(), executable, at)))
    }

    fn collect(node: &Node, at: &str, content: &mut Content) {
        match node {
            Node::File(file) => {
                content.insert(at.to_owned(), Some((file.bytes.clone(), file.executable)));
            }
            Node::Folder(folder) => {
                content.insert(at.to_owned(), None);
                for (name, node) in folder.children().iter() {
                    collect(node, &format!("{at}/{name}"), content);
                }
            }
        }
    }

    fn content(tree: &Tree) -> Content {
        let mut content = Content::new();
        collect(tree.top(), "/workspace", &mut content);
        content
    }

    /// A tree that holds the same and was made in another order, at other times.
    fn afresh(content: &Content, from: usize) -> Tree {
        let mut tree = empty();
        let now = Timestamp::from_millis(7);
        let mut entries: Vec<_> = content
            .iter()
            .filter(|(at, _)| *at != "/workspace")
            .collect();
        let count = entries.len().max(1);
        entries.rotate_left(from % count);
        if from.is_multiple_of(2) {
            entries.reverse();
        }
        for (at, entry) in entries {
            let at = path(at);
            match entry {
                Some((bytes, executable)) => {
                    tree.put(&at, file(bytes.clone(), *executable, 9), now);
                }
                // Made already when something of it came first.
                None if tree.get(&at).is_none() => tree.put(&at, Node::empty(now), now),
                None => {}
            }
        }
        tree
    }

    /// The content without folders.
    fn files(content: &Content) -> Content {
        let files = content.iter().filter(|(_, entry)| entry.is_some());
        files
            .map(|(at, entry)| (at.clone(), entry.clone()))
            .collect()
    }

    fn files_alone(content: &Content, from: usize) -> Tree {
        afresh(&files(content), from)
    }

    fn total(content: &Content) -> u64 {
        let files = content.values().flatten();
        files.map(|(bytes, _)| bytes.len() as u64).sum()
    }

    /// Of each content one thing is other: a name, a byte, a mode, an empty folder, a file.
    fn variants(tree: &Tree) -> Vec<Tree> {
        let now = Timestamp::from_millis(11);
        let mut variants = Vec::new();
        let mut vary = |change: &dyn Fn(&mut Tree)| {
            let mut variant = tree.clone();
            change(&mut variant);
            variants.push(variant);
        };
        vary(&|tree| tree.put(&path("other"), Node::empty(now), now));
        vary(&|tree| tree.put(&path("other"), file("", false, 1), now));
        for (at, entry) in content(tree).into_iter().skip(1) {
            let at = path(&at);
            vary(&|tree| drop(tree.take(&at, now)));
            vary(&|tree| {
                let node = tree.take(&at, now).unwrap();
                tree.put(&path("renamed"), node, now);
            });
            let Some((bytes, executable)) = entry else {
                vary(&|tree| tree.put(&at.join("other").unwrap(), Node::empty(now), now));
                continue;
            };
            vary(&|tree| tree.put(&at, file(bytes.clone(), !executable, 1), now));
            let longer = [bytes.as_ref(), b"."].concat();
            vary(&|tree| tree.put(&at, file(longer.clone(), executable, 1), now));
        }
        variants
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// A revision that each change keeps up to date is that of a tree made afresh with the same content, and
        /// contents that differ in one thing have another.
        #[test]
        fn revisions_name_contents(
            steps in prop::collection::vec((0_u8..6, 0_u8..3, 0_u8..3, 0_u8..3, any::<bool>()), 1..60),
            from in 0_usize..50,
        ) {
            let mut tree = empty();
            let mut seen: BTreeMap<String, Content> = BTreeMap::new();
            for (step, (kind, one, two, word, executable)) in steps.into_iter().enumerate() {
                let now = Timestamp::from_millis(i64::try_from(step).unwrap());
                let short = path(&format!("{one}"));
                let long = path(&format!("{one}/{two}/{word}"));
                match kind {
                    0 | 1 => tree.put(&long, file(format!("{word}"), executable, 1), now),
                    2 => tree.put(&short, file(format!("{word}{two}"), executable, 1), now),
                    3 => drop(tree.take(&path(&format!("{one}/{two}")), now)),
                    4 => if let Some(node) = tree.take(&short, now) {
                        tree.put(&path(&format!("{two}/moved")), node, now);
                    },
                    _ => if tree.get(&short).is_none() {
                        tree.put(&short, Node::empty(now), now);
                    },
                }
                let (revision, content) = (tree.revision(), content(&tree));
                prop_assert_eq!(tree.total_bytes(), total(&content));
                let again = afresh(&content, from + step);
                prop_assert_eq!(&again.revision(), &revision);
                prop_assert!(again.has_same_files(&tree));
                prop_assert!(files_alone(&content, from + step).has_same_files(&tree));
                if let Some(before) = seen.insert(revision, content.clone()) {
                    prop_assert_eq!(before, content);
                }
            }
            let revision = tree.revision();
            for variant in variants(&tree) {
                prop_assert_ne!(&variant.revision(), &revision);
                let same = files(&content(&variant)) == files(&content(&tree));
                prop_assert_eq!(variant.has_same_files(&tree), same);
                prop_assert_eq!(changes(&variant, &tree).is_empty(), same);
                prop_assert_eq!(afresh(&content(&variant), from).revision(), variant.revision());
                prop_assert_eq!(variant.total_bytes(), total(&content(&variant)));
            }
        }
    }

    #[test]
    fn revisions_are_of_one_key() {
        let one = Tree::empty(key(1), Timestamp::default());
        let other = Tree::empty(key(2), Timestamp::default());
        assert_ne!(one.revision(), other.revision());
        let shown = format!("{:?}{:?}", key(1), one);
        assert!(shown.contains("DigestKey(..)") && shown.contains("Digest(..)"));
    }

    /// What is in a folder needs no look when it is taken out, moved, or its size is asked.
    #[test]
    fn folders_are_moved_and_removed_whole() {
        let mut tree = empty();
        let now = Timestamp::default();
        for number in 0..5_000 {
            let at = format!("large/{}/{number}", number / 100);
            tree.put(&path(&at), file("x", false, 1), now);
        }
        let kept = tree.clone();
        assert!(kept.take_looked() > 50);
        let large = tree.take(&path("large"), now).unwrap();
        assert_eq!(tree.total_bytes(), 0);
        tree.put(&path("moved/here"), large, now);
        assert_eq!(tree.total_bytes(), 5_000);
        assert_ne!(tree.revision(), kept.revision());
        let looked = kept.take_looked();
        assert!(looked <= 1, "{looked} parts");
    }
}
