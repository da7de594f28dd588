use std::sync::Arc;

use everruns_core::file_system::{FileKind, FileSystemError};
use everruns_core::path::{Mount, WorkspacePath};

use super::edit::blocked_by;
use super::node::{File, Node};

pub(super) fn usable(closed: Option<&'static str>) -> Result<(), FileSystemError> {
    match closed {
        None => Ok(()),
        Some(reason) => Err(FileSystemError::StaleRoot {
            reason: reason.to_owned(),
        }),
    }
}

/// Checks what can be told of a path alone.
pub(super) fn check(path: &WorkspacePath) -> Result<(), FileSystemError> {
    if let Mount::Root(name) = path.mount() {
        return Err(FileSystemError::UnknownRoot {
            name: name.to_string(),
            known: Vec::new(),
        });
    }
    if path.is_git_internal() {
        return Err(FileSystemError::GitInternal { path: path.clone() });
    }
    Ok(())
}

pub(super) fn node_at<'a>(
    top: &'a Node,
    path: &WorkspacePath,
) -> Result<&'a Node, FileSystemError> {
    if let Some(node) = top.get(path) {
        return Ok(node);
    }
    not_blocked(top, path)?;
    Err(FileSystemError::NotFound { path: path.clone() })
}

pub(super) fn file_at<'a>(
    top: &'a Node,
    path: &WorkspacePath,
) -> Result<&'a Arc<File>, FileSystemError> {
    match node_at(top, path)? {
        Node::File(file) => Ok(file),
        Node::Folder(_) => Err(not_a_file(path)),
    }
}

pub(super) fn not_a_file(path: &WorkspacePath) -> FileSystemError {
    FileSystemError::NotAFile {
        path: path.clone(),
        kind: FileKind::Directory,
    }
}

pub(super) fn not_blocked(top: &Node, path: &WorkspacePath) -> Result<(), FileSystemError> {
    match blocked_by(top, path) {
        Some(path) => Err(FileSystemError::NotADirectory { path }),
        None => Ok(()),
    }
}
