//! The index's extension that says which trees its entries make.
//!
//! With it, comparing the index with a commit whose tree it names takes no reading of trees: for Git, which writes the
//! same extension, and for us.

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use crate::error::{GitStep as _, Result};

/// The extension's signature.
const SIGNATURE: &[u8; 4] = b"TREE";

/// How deep folders may be nested before the extension is left out.
const DEEPEST: usize = 512;

/// The extension for an index that holds exactly `tree`; `None` if it would be too large.
pub(super) fn extension(repository: &gix::Repository, tree: ObjectId) -> Result<Option<Vec<u8>>> {
    let Some(root) = read(repository, tree, DEEPEST)? else {
        return Ok(None);
    };
    let mut body = Vec::new();
    root.encode(b"", &mut body);
    let Ok(size) = u32::try_from(body.len()) else {
        return Ok(None);
    };
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend_from_slice(&size.to_be_bytes());
    bytes.extend_from_slice(&body);
    Ok(Some(bytes))
}

/// A folder.
struct Folder {
    id: ObjectId,
    /// How many entries of the index lie in it, at any depth.
    entries: usize,
    folders: Vec<(Vec<u8>, Self)>,
}

impl Folder {
    fn encode(&self, name: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(name);
        out.push(0);
        out.extend_from_slice(format!("{} {}\n", self.entries, self.folders.len()).as_bytes());
        out.extend_from_slice(self.id.as_bytes());
        for (name, folder) in &self.folders {
            folder.encode(name, out);
        }
    }
}

fn read(repository: &gix::Repository, id: ObjectId, depth: usize) -> Result<Option<Folder>> {
    let step = "read the index's trees";
    let Some(depth) = depth.checked_sub(1) else {
        return Ok(None);
    };
    let tree = repository.find_tree(id).git(step)?;
    let mut folder = Folder {
        id,
        entries: 0,
        folders: Vec::new(),
    };
    for entry in tree.iter() {
        let entry = entry.git(step)?;
        if entry.kind() != EntryKind::Tree {
            folder.entries += 1;
            continue;
        }
        let Some(below) = read(repository, entry.object_id(), depth)? else {
            return Ok(None);
        };
        folder.entries += below.entries;
        folder.folders.push((entry.filename().to_vec(), below));
    }
    // The order in which Git keeps them.
    folder
        .folders
        .sort_by(|(left, _), (right, _)| (left.len(), left).cmp(&(right.len(), right)));
    Ok(Some(folder))
}
