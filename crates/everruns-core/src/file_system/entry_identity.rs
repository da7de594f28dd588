use std::sync::Arc;

use crate::path::WorkspacePath;

/// Which entry a path leads to, however many paths and trees lead there.
///
/// Two of them are equal only when they tell of one entry. They tell of the moment in which they were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryIdentity {
    /// A folder on a disk of this host.
    HostFolder {
        /// Its device.
        device: u64,
        /// Its number on that device.
        inode: u64,
    },
    /// Something else on a disk of this host: the name, as it is stored, in a folder. Two names of one file are two
    /// entries: when one is removed, the other stays.
    HostEntry {
        /// The device of the folder that it lies in.
        device: u64,
        /// That folder's number.
        inode: u64,
        /// Its name there.
        name: Vec<u8>,
    },
    /// An entry of a tree that lies on no disk, by the path under which the tree itself keeps it.
    InTree {
        /// The tree.
        tree: TreeIdentity,
        /// The path.
        path: WorkspacePath,
    },
}

/// Which tree of this process; it means something as long as the tree lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeIdentity(usize);

impl TreeIdentity {
    /// That of the tree whose handles share `shared`.
    pub fn of<T: ?Sized>(shared: &Arc<T>) -> Self {
        Self(Arc::as_ptr(shared).cast::<()>().addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_one_tree_are_one() {
        let (one, other) = (Arc::new(1), Arc::new(1));
        assert_eq!(TreeIdentity::of(&one), TreeIdentity::of(&Arc::clone(&one)));
        assert_ne!(TreeIdentity::of(&one), TreeIdentity::of(&other));
    }
}
