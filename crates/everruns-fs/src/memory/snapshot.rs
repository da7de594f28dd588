use super::node::Node;

/// One state of a tree, shared with whatever has the same parts.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) top: Node,
    pub(super) total_bytes: u64,
}

impl Snapshot {
    /// A state made of a tree.
    pub(crate) fn of(top: Node) -> Self {
        let total_bytes = top.total_bytes();
        Self { top, total_bytes }
    }

    /// What the state is called: the hash of its names, bytes and modes.
    pub(crate) fn revision(&self) -> String {
        self.top.hash().to_string()
    }
}
