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
/// What both trees share, and folders with the same files, are passed over without a look, so the cost follows what
/// changed.
pub(crate) fn changes(before: &Tree, after: &Tree) -> Vec<TreeChange> {
    let mut found = Vec::new();
    let (before, after) = (Some(before.top()), Some(after.top()));
    if !is_same(before, after) {
        compare(&WorkspacePath::root(), before, after, &mut found);
    }
    found
}

/// Tells how two nodes of one path differ.
fn compare(
    path: &WorkspacePath,
    before: Option<&Node>,
    after: Option<&Node>,
    found: &mut Vec<TreeChange>,
) {
    let (before_file, after_file) = (as_file(before), as_file(after));
    if before_file.is_some() || after_file.is_some() {
        found.push(TreeChange {
            path: path.clone(),
            before: before_file,
            after: after_file,
        });
    }
    let (old, new) = (as_folder(before), as_folder(after));
    for apart in Children::apart(old.map(Folder::children), new.map(Folder::children)) {
        if is_same(apart.before, apart.after) {
            continue;
        }
        let path = path
            .join(apart.name)
            .expect("what is put into a tree has a path of the namespace, and is moved only where it has one");
        compare(&path, apart.before, apart.after, found);
    }
}

fn is_same(before: Option<&Node>, after: Option<&Node>) -> bool {
    match (before, after) {
        (Some(Node::Folder(old)), Some(Node::Folder(new))) => old.has_same_files(new),
        (Some(Node::File(old)), Some(Node::File(new))) => old.is_same(new),
        _ => false,
    }
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
