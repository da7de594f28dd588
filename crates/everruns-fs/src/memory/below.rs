use super::digest::{Digest, DigestKey};
use super::node::Node;

/// What is known of all that is in a folder and further below. Each change keeps it up to date, so nobody has to walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Below {
    /// How many bytes all files together have.
    pub(super) bytes: u64,
    pub(super) digest: Digest,
}

impl Below {
    /// What one entry has a share of.
    pub(super) fn of_entry(key: DigestKey, name: &str, node: &Node) -> Self {
        Self {
            bytes: node.total_bytes(),
            digest: key.entry(name, node),
        }
    }

    pub(super) fn add(&mut self, share: Self) {
        self.bytes += share.bytes;
        self.digest.toggle(share.digest);
    }

    pub(super) fn remove(&mut self, share: Self) {
        self.bytes -= share.bytes;
        self.digest.toggle(share.digest);
    }
}
