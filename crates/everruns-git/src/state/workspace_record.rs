//! What is recorded of a workspace.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Layout, path_text, record};
use crate::error::{GitError, IoStep as _, Result};

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
    /// The records that can be read, in the order of their ids.
    pub(crate) fn all(layout: &Layout) -> Result<Vec<Self>> {
        let folder = layout.workspaces();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(failure) => return Err(failure).step("list", &folder),
        };
        let mut records = Vec::new();
        for entry in entries {
            let name = entry.step("list", &folder)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            records.extend(id.and_then(|id| Self::load(layout, id).ok()));
        }
        records.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(records)
    }
}
