use std::fmt;

use everruns_core::entropy::Entropy;

use super::folder::Folder;
use super::node::Node;

/// The secret that digests are made with. Digests of two keys have nothing to do with one another.
#[derive(Clone, Copy)]
pub(crate) struct DigestKey([u8; 32]);

/// What a set of entries is told by: equal for equal names, bytes and modes, whatever the order they came in.
///
/// It is the exclusive or of a keyed hash of each entry (MSet-XOR-Hash of Clarke, Devadas, van Dijk, Gassend and Suh,
/// 2003; a folder has no entry twice), so that a change costs the same in a folder of any size. Whoever knows the key, or
/// sees digests of sets, can make two sets with one digest; so neither leaves the process, and what is told is a keyed hash
/// once more.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    /// Puts an entry into the set, or takes it out.
    pub(super) fn toggle(&mut self, entry: Self) {
        for (byte, of_entry) in self.0.iter_mut().zip(entry.0) {
            *byte ^= of_entry;
        }
    }
}

impl DigestKey {
    pub(crate) fn new(entropy: &dyn Entropy) -> Self {
        let mut key = [0; 32];
        entropy.fill(&mut key);
        Self(key)
    }

    /// For a tree whose revision nobody asks for.
    pub(super) const fn of_no_revision() -> Self {
        Self([0; 32])
    }

    /// The hash of one entry.
    pub(super) fn entry(self, name: &str, node: &Node) -> Digest {
        let (tag, content) = match node {
            Node::File(file) if file.executable => (b'x', file.version.as_bytes()),
            Node::File(file) => (b'f', file.version.as_bytes()),
            Node::Folder(folder) => (b'd', &folder.below().digest.0),
        };
        self.hash(tag, content, name)
    }

    /// The hash of a folder by its files alone.
    pub(super) fn files_entry(self, name: &str, folder: &Folder) -> Digest {
        self.hash(b'd', &folder.below().files.0, name)
    }

    fn hash(self, tag: u8, content: &[u8], name: &str) -> Digest {
        // All but the name has one length, so no two entries give the same text.
        let mut text = Vec::with_capacity(1 + content.len() + name.len());
        text.push(tag);
        text.extend_from_slice(content);
        text.extend_from_slice(name.as_bytes());
        Digest(*blake3::keyed_hash(&self.0, &text).as_bytes())
    }

    /// What a tree is called: the hash of its top as an entry without a name, which none in a folder is.
    pub(super) fn revision(self, top: &Node) -> String {
        let Digest(hash) = self.entry("", top);
        blake3::Hash::from_bytes(hash).to_string()
    }
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey(..)")
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(..)")
    }
}
