use everruns_core::path::{MAX_DEPTH, MAX_PATH_BYTES, PathError, WorkspacePath};

use super::node::Node;

/// How far below a folder its entries reach: never less than they do, and more when what reached furthest went away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// Bytes of the longest path below, with a separator before each name.
    bytes: usize,
    /// Components of the deepest path below.
    depth: usize,
}

impl Reach {
    /// How far an entry of this name reaches.
    pub(super) fn of_entry(name: &str, node: &Node) -> Self {
        let below = match node {
            Node::File(_) => Self::default(),
            Node::Folder(folder) => folder.below().reach,
        };
        Self {
            bytes: below.bytes.saturating_add(1 + name.len()),
            depth: below.depth.saturating_add(1),
        }
    }

    pub(super) fn cover(&mut self, other: Self) {
        self.bytes = self.bytes.max(other.bytes);
        self.depth = self.depth.max(other.depth);
    }

    /// Whether all paths below are paths of the namespace when the folder is at `path`.
    fn fits(self, path: &WorkspacePath) -> bool {
        let bytes = path.to_string().len().saturating_add(self.bytes);
        let depth = path.components().count().saturating_add(self.depth);
        bytes <= MAX_PATH_BYTES && depth <= MAX_DEPTH
    }
}

/// Checks that all that is below `node` has a path when that is at `path`. Looks only into folders that may reach too far.
pub(super) fn check_below(path: &WorkspacePath, node: &Node) -> Result<(), PathError> {
    let Node::Folder(folder) = node else {
        return Ok(());
    };
    if folder.below().reach.fits(path) {
        return Ok(());
    }
    for (name, node) in folder.children().iter() {
        check_below(&path.join(name)?, node)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use everruns_core::clock::Timestamp;
    use proptest::prelude::*;

    use super::super::digest::DigestKey;
    use super::super::node::File;
    use super::super::tree::Tree;
    use super::*;

    fn file() -> Node {
        Node::File(Arc::new(File::new("x".into(), false, Timestamp::default())))
    }

    /// All paths below a folder, as texts.
    fn below(at: &str, node: &Node, found: &mut Vec<String>) {
        if let Node::Folder(folder) = node {
            for (name, node) in folder.children().iter() {
                let path = format!("{at}/{name}");
                below(&path, node, found);
                found.push(path);
            }
        }
    }

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// What is refused is just what would have a path that is none.
        #[test]
        fn a_place_is_refused_for_what_does_not_fit(
            steps in prop::collection::vec((0_usize..14, 1_usize..255, 0_u8..3), 1..30),
            gone in prop::collection::vec(0_usize..30, 0..10),
            places in prop::collection::vec((0_usize..16, 1_usize..255), 1..12),
            deep in 0_usize..256,
        ) {
            let now = Timestamp::default();
            let mut tree = Tree::empty(DigestKey::of_no_revision(), now);
            let top = path("moved");
            tree.put(&top, Node::empty(now), now);
            let mut made = Vec::new();
            for (depth, length, kind) in steps {
                let folders = vec!["d".repeat(length); depth].join("/");
                if let Ok(at) = top.join(format!("{folders}/{kind}").trim_start_matches('/')) {
                    tree.put(&at, file(), now);
                    made.push(at);
                }
            }
            if let Ok(at) = top.join(&vec!["e"; deep].join("/")) && deep > 0 {
                tree.put(&at, file(), now);
                made.push(at);
            }
            for at in gone {
                if let Some(at) = made.get(at) {
                    tree.take(at, now);
                }
            }
            let node = tree.get(&top).unwrap();
            let mut all = Vec::new();
            below("", node, &mut all);
            for (depth, length) in places {
                let Ok(place) = WorkspacePath::parse(&vec!["p".repeat(length); depth + 1].join("/")) else {
                    continue;
                };
                let fits = all.iter().all(|below| WorkspacePath::parse(&format!("{place}{below}")).is_ok());
                prop_assert_eq!(check_below(&place, node).is_ok(), fits, "{} {:?}", place, all);
            }
        }
    }

    /// A folder that fits for certain is not looked into, of whatever size.
    #[test]
    fn a_folder_that_fits_is_not_looked_into() {
        let now = Timestamp::default();
        let mut tree = Tree::empty(DigestKey::of_no_revision(), now);
        for number in 0..2_000 {
            tree.put(
                &path(&format!("large/{}/{number}", number % 7)),
                file(),
                now,
            );
        }
        let large = path("large");
        let long = format!("large/{}", vec!["l".repeat(200); 19].join("/"));
        let long = path(&long);
        tree.put(&long, file(), now);
        tree.take_looked();
        check_below(&path("elsewhere/and/deeper"), tree.get(&large).unwrap()).unwrap();
        assert!(tree.take_looked() <= 1);
        // Of what may reach too far, only the way there is.
        let too_far = path(&format!("{}/{}", "p".repeat(250), "p".repeat(100)));
        let found = check_below(&too_far, tree.get(&large).unwrap());
        assert!(
            matches!(found, Err(PathError::TooLong { length: 4_097.. })),
            "{found:?}"
        );
        let looked = tree.take_looked();
        assert!(looked <= 25, "{looked} parts");
        tree.take(&long, now);
        check_below(&too_far, tree.get(&large).unwrap()).unwrap();
    }
}
