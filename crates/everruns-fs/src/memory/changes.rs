use std::sync::Arc;

use everruns_core::path::WorkspacePath;

use super::children::Children;
use super::folder::Folder;
use super::node::{File, Node};
use super::tree::Tree;

/// A file that two trees do not have in common. Folders have no changes of their own.
#[derive(Clone, Debug)]
pub(crate) struct TreeChange {
    pub(crate) path: WorkspacePath,
    pub(crate) before: Option<Arc<File>>,
    pub(crate) after: Option<Arc<File>>,
}

/// The files that differ, in byte order of their components.
///
/// What both trees share, and folders with the same content, are passed over without a look, so the cost follows what
/// changed.
pub(crate) fn changes(before: &Tree, after: &Tree) -> Vec<TreeChange> {
    let mut found = Vec::new();
    compare(
        &WorkspacePath::root(),
        Some(before.top()),
        Some(after.top()),
        &mut found,
    );
    found
}

fn compare(
    path: &WorkspacePath,
    before: Option<&Node>,
    after: Option<&Node>,
    found: &mut Vec<TreeChange>,
) {
    match (before, after) {
        (Some(Node::Folder(old)), Some(Node::Folder(new))) if old.is_same(new) => return,
        (Some(Node::File(old)), Some(Node::File(new))) if old.is_same(new) => return,
        _ => {}
    }
    let (before_file, after_file) = (as_file(before), as_file(after));
    if before_file.is_some() || after_file.is_some() {
        found.push(TreeChange {
            path: path.clone(),
            before: before_file,
            after: after_file,
        });
    }
    let (old, new) = (as_folder(before), as_folder(after));
    let names = Children::names_apart(old.map(Folder::children), new.map(Folder::children));
    for name in names {
        let (old, new) = (child(old, name), child(new, name));
        // Names in a tree are components of parsed paths, and a path of the tree is one of the namespace.
        if let Ok(path) = path.join(name) {
            compare(&path, old, new, found);
        }
    }
}

fn child<'a>(folder: Option<&'a Folder>, name: &str) -> Option<&'a Node> {
    folder?.children().get(name)
}

fn as_file(node: Option<&Node>) -> Option<Arc<File>> {
    match node {
        Some(Node::File(file)) => Some(Arc::clone(file)),
        _ => None,
    }
}

fn as_folder(node: Option<&Node>) -> Option<&Folder> {
    match node {
        Some(Node::Folder(folder)) => Some(folder),
        _ => None,
    }
}
