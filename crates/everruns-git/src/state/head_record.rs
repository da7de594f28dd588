//! What is recorded of a head.

use std::fs;

use serde::{Deserialize, Serialize};

use super::{Layout, record};
use crate::error::{GitError, IoStep as _, Result};

/// How far a head's life has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HeadState {
    /// It can be opened.
    Ready,
    /// It is kept, but not opened.
    Archived,
    /// Its working tree is gone; its branch remains.
    Destroyed,
}

/// The head and checkpoint that a head was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The source head.
    pub(crate) head: String,
    /// The checkpoint's commit.
    pub(crate) checkpoint: String,
}

/// A head, as its creation recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeadRecord {
    /// The head's id, also the name of its folder and of its worktree record.
    pub(crate) id: String,
    /// The workspace's id.
    pub(crate) workspace: String,
    /// The name for people, unique among the workspace's living heads.
    pub(crate) name: String,
    /// The branch without `refs/heads/`.
    pub(crate) branch: String,
    /// The commit that the head started from; the empty tree if the repository had none.
    pub(crate) base: String,
    /// How that commit was asked for.
    pub(crate) base_revision: String,
    /// Whether several sessions may use it.
    pub(crate) shared: bool,
    /// How far its life has come.
    pub(crate) state: HeadState,
    /// The patterns of ignored files that were asked for beside those in the repository; its forks get theirs too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) include_ignored: Vec<String>,
    /// Where it was forked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
    /// The ref that keeps what was uncommitted when it was destroyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    /// When it was created, in milliseconds since the epoch.
    pub(crate) created_at: i64,
}

impl HeadRecord {
    /// The full name of the head's branch.
    pub(crate) fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// Writes the record.
    pub(crate) fn save(&self, layout: &Layout) -> Result<()> {
        record::save(&layout.head(&self.workspace, &self.id), self)
    }

    /// The record of a head, whatever its state.
    pub(crate) fn load(layout: &Layout, workspace: &str, id: &str) -> Result<Self> {
        let unknown = || GitError::HeadUnknown { id: id.to_owned() };
        if !is_head_id(id) {
            return Err(unknown());
        }
        let found: Self = record::load(&layout.head(workspace, id))?.ok_or_else(unknown)?;
        if found.id == id && found.workspace == workspace {
            Ok(found)
        } else {
            Err(unknown())
        }
    }

    /// The records of all heads of a workspace, destroyed ones included, oldest first.
    pub(crate) fn all(layout: &Layout, workspace: &str) -> Result<Vec<Self>> {
        let folder = layout.heads(workspace);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(failure) => return Err(failure).step("list", &folder),
        };
        let mut records = Vec::new();
        for entry in entries {
            let path = entry.step("list", &folder)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                records.extend(record::load::<Self>(&path)?);
            }
        }
        records
            .sort_by(|left, right| (left.created_at, &left.id).cmp(&(right.created_at, &right.id)));
        Ok(records)
    }
}

/// Whether `id` is of the form this backend gives, and so can't be a path to elsewhere.
pub(crate) fn is_head_id(id: &str) -> bool {
    id.strip_prefix("head_").is_some_and(|tail| {
        !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
