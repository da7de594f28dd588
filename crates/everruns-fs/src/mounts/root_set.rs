use std::collections::BTreeMap;
use std::sync::Arc;

use everruns_core::file_system::SessionFileSystem;
use everruns_core::path::RootName;

use super::RootError;

/// What a session may do with an additional root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RootAccess {
    /// Only read.
    #[default]
    ReadOnly,
    /// Read and change.
    ReadWrite,
}

/// The additional roots of a session, by name. They are mounts only: no heads, without lineage, status or
/// checkpoints.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceRootSet {
    roots: BTreeMap<RootName, Root>,
}

#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) files: Arc<dyn SessionFileSystem>,
    pub(super) access: RootAccess,
}

impl WorkspaceRootSet {
    /// No roots.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the root `/roots/<name>`, whose top folder is the one of `files`.
    ///
    /// # Errors
    /// [`RootError::Duplicate`] when the name is taken.
    pub fn with_root(
        mut self,
        name: RootName,
        files: Arc<dyn SessionFileSystem>,
        access: RootAccess,
    ) -> Result<Self, RootError> {
        if self.roots.contains_key(&name) {
            return Err(RootError::Duplicate { name });
        }
        self.roots.insert(name, Root { files, access });
        Ok(self)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &RootName> {
        self.roots.keys()
    }

    /// What a session may do with the root `name`; `None` when there is none.
    pub fn access(&self, name: &RootName) -> Option<RootAccess> {
        self.roots.get(name).map(|root| root.access)
    }

    /// Whether there are no roots.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    pub(super) fn get(&self, name: &RootName) -> Option<&Root> {
        self.roots.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&RootName, &Root)> {
        self.roots.iter()
    }
}
