//! What is recorded of a workspace.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Layout, path_text, record};
use crate::error::{GitError, Result};

/// A repository that heads were made from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WorkspaceRecord {
    /// The workspace's id.
    pub(crate) id: String,
    /// The repository's name for people.
    pub(crate) name: String,
    /// The repository's common directory, absolute and free of links.
    #[serde(with = "path_text")]
    pub(crate) common_dir: PathBuf,
}

impl WorkspaceRecord {
    /// Records the workspace; does nothing if that is recorded already.
    pub(crate) fn save(&self, layout: &Layout) -> Result<()> {
        let path = layout.workspace(&self.id);
        if record::load::<Self>(&path)?.is_some_and(|known| known.common_dir == self.common_dir) {
            return Ok(());
        }
        record::save(&path, self)
    }

    /// The record of the workspace `id`.
    pub(crate) fn load(layout: &Layout, id: &str) -> Result<Self> {
        let unknown = || GitError::WorkspaceUnknown { id: id.to_owned() };
        // Ids come from bindings as well; nothing that could be a path reaches the disk.
        if !id.starts_with("git-")
            || !id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Err(unknown());
        }
        record::load(&layout.workspace(id))?.ok_or_else(unknown)
    }
}
