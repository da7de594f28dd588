use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::path::WorkspacePath;

use super::digest::DigestKey;
use super::folder::Folder;
use super::node::Node;

/// The first file on the way to `path`, which makes everything below it impossible.
pub(super) fn blocked_by(top: &Node, path: &WorkspacePath) -> Option<WorkspacePath> {
    let mut above = Vec::new();
    let mut folder = path.parent();
    while let Some(path) = folder {
        folder = path.parent();
        above.push(path);
    }
    above
        .into_iter()
        .rev()
        .find(|path| matches!(top.get(path), Some(Node::File(_))))
}

/// Changes the folder at the end of `way`, made its tree's own: what others share is copied, once. Missing folders are
/// made when a time for them is given.
pub(super) fn in_folder<'a, T>(
    node: &mut Node,
    key: DigestKey,
    way: &mut impl Iterator<Item = &'a str>,
    make: Option<Timestamp>,
    change: impl FnOnce(&mut Folder) -> T,
) -> Option<T> {
    let Node::Folder(folder) = node else {
        return None;
    };
    let folder = Arc::make_mut(folder);
    let Some(name) = way.next() else {
        return Some(change(folder));
    };
    if let Some(now) = make
        && folder.children().get(name).is_none()
    {
        folder.insert(key, name, Node::empty(now), now);
    }
    folder.change(key, name, |node| in_folder(node, key, way, make, change))?
}
