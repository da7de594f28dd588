use std::sync::Arc;

use everruns_core::file_system::FileSystemError;
use everruns_core::path::{WorkspacePath, is_git_internal_name};

use super::folder::Folder;
use super::node::Node;
use super::tree::Tree;
use crate::search::{SearchSource, SourceEntry, SourceFile};

/// One state of a tree, to be searched while the tree goes on changing.
#[derive(Debug)]
pub(super) struct MemorySource(pub(super) Tree);

impl SearchSource for MemorySource {
    type Folder = Arc<Folder>;

    fn open(&self, path: &WorkspacePath) -> Result<Arc<Folder>, FileSystemError> {
        match self.0.get(path) {
            Some(Node::Folder(folder)) => Ok(Arc::clone(folder)),
            Some(Node::File(_)) => Err(FileSystemError::NotADirectory { path: path.clone() }),
            None => Err(FileSystemError::NotFound { path: path.clone() }),
        }
    }

    fn entries(
        &self,
        folder: &Arc<Folder>,
        _: &WorkspacePath,
    ) -> Result<Vec<SourceEntry>, FileSystemError> {
        let entries = folder
            .children()
            .iter()
            .filter(|(name, _)| !is_git_internal_name(name));
        Ok(entries
            .map(|(name, node)| SourceEntry {
                name: name.to_string(),
                kind: node.kind(),
            })
            .collect())
    }

    fn enter(
        &self,
        folder: &Arc<Folder>,
        name: &str,
        _: &WorkspacePath,
    ) -> Result<Option<Arc<Folder>>, FileSystemError> {
        Ok(match folder.children().get(name) {
            Some(Node::Folder(below)) => Some(Arc::clone(below)),
            _ => None,
        })
    }

    fn read(
        &self,
        folder: &Arc<Folder>,
        name: &str,
        _: &WorkspacePath,
        limit: u64,
    ) -> Result<SourceFile, FileSystemError> {
        Ok(match folder.children().get(name) {
            Some(Node::File(file)) if file.bytes.len() as u64 > limit => SourceFile::TooLarge,
            Some(Node::File(file)) => SourceFile::Content(file.bytes.clone()),
            _ => SourceFile::Gone,
        })
    }
}
