use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::path::WorkspacePath;

use super::node::{Folder, Node};

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

/// Puts `node` at `path`, making missing folders. Nothing happens at the top or below a file.
pub(crate) fn put(top: &mut Node, path: &WorkspacePath, node: Node, now: Timestamp) {
    if let Some(name) = path.file_name()
        && let Some(folder) = folder_mut(top, path, now, true)
    {
        folder.edit(now).insert(name, node);
    }
}

/// Takes the node at `path` out of the tree.
pub(crate) fn take(top: &mut Node, path: &WorkspacePath, now: Timestamp) -> Option<Node> {
    let name = path.file_name()?;
    top.get(path)?;
    folder_mut(top, path, now, false)?.edit(now).remove(name)
}

/// The folder that holds `path`, made its tree's own: what others share is copied, once.
fn folder_mut<'a>(
    top: &'a mut Node,
    path: &WorkspacePath,
    now: Timestamp,
    make: bool,
) -> Option<&'a mut Folder> {
    let parent = path.parent()?;
    let mut node = top;
    for name in parent.components() {
        let Node::Folder(folder) = node else {
            return None;
        };
        let children = Arc::make_mut(folder).edit_below();
        if make && children.get(name).is_none() {
            children.insert(name, Node::empty(now));
        }
        node = children.get_mut(name)?;
    }
    match node {
        Node::Folder(folder) => Some(Arc::make_mut(folder)),
        Node::File(_) => None,
    }
}
