use super::digest::{Digest, DigestKey};
use super::node::Node;
use super::reach::Reach;

/// What is known of all that is in a folder and further below. Each change keeps it up to date, so nobody has to walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Below {
    /// How many bytes all files together have.
    pub(super) bytes: u64,
    pub(super) digest: Digest,
    /// The digest without folders that have no file below them; that of nothing when there is no file.
    pub(super) files: Digest,
    pub(super) reach: Reach,
}

impl Below {
    /// What one entry has a share of.
    pub(super) fn of_entry(key: DigestKey, name: &str, node: &Node) -> Self {
        let digest = key.entry(name, node);
        let files = match node {
            Node::File(_) => digest,
            Node::Folder(folder) => {
                let below = folder.below();
                if below.files == Digest::default() {
                    Digest::default()
                } else if below.files == below.digest {
                    digest
                } else {
                    key.files_entry(name, folder)
                }
            }
        };
        Self {
            bytes: node.total_bytes(),
            digest,
            files,
            reach: Reach::of_entry(name, node),
        }
    }

    pub(super) fn add(&mut self, share: Self) {
        self.reach.cover(share.reach);
        self.bytes += share.bytes;
        self.digest.toggle(share.digest);
        self.files.toggle(share.files);
    }

    pub(super) fn remove(&mut self, share: Self) {
        self.bytes -= share.bytes;
        self.digest.toggle(share.digest);
        self.files.toggle(share.files);
    }
}
