//! Names of heads: each is held by one living head of a workspace, across processes.

use std::fs;
use std::path::PathBuf;

use super::{Layout, durable};
use crate::error::{GitError, IoStep as _, Result};

/// The place in the state folder that stands for one name.
///
/// A name is taken by creating a file that must not exist, so two creations can't both take it.
#[derive(Debug)]
pub(crate) struct NameSlot {
    path: PathBuf,
    name: String,
}

impl NameSlot {
    /// The slot of `name` in `workspace`.
    pub(crate) fn new(layout: &Layout, workspace: &str, name: &str) -> Self {
        let key = blake3::hash(name.as_bytes()).to_hex();
        Self {
            path: layout.names(workspace).join(key.as_str()),
            name: name.to_owned(),
        }
    }

    /// Takes the name for the head `id`.
    pub(crate) fn take(&self, id: &str) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).step("create", folder)?;
        }
        if durable::create_new(&self.path, id.as_bytes())? {
            return Ok(());
        }
        match self.holder()? {
            Some(holder) if holder == id => Ok(()),
            holder => Err(GitError::NameTaken {
                name: self.name.clone(),
                holder: holder.unwrap_or_default(),
            }),
        }
    }

    /// Frees the name if the head `id` holds it.
    pub(crate) fn free(&self, id: &str) -> Result<()> {
        if self.holder()?.as_deref() == Some(id) {
            durable::remove(&self.path)
        } else {
            Ok(())
        }
    }

    /// The head that holds the name.
    pub(crate) fn holder(&self) -> Result<Option<String>> {
        let bytes = durable::read(&self.path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
