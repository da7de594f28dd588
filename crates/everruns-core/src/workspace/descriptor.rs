use serde::{Deserialize, Serialize};

use super::WorkspaceHeadName;
use crate::clock::Timestamp;
use crate::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};

/// How many sessions a head serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceHeadAccess {
    /// One session at most, ever at a time; a second binding is refused.
    #[default]
    Isolated,
    /// Any number of sessions, which see each other's changes.
    Shared,
}

impl WorkspaceHeadAccess {
    /// The name under which it is persisted: `isolated` or `shared`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Shared => "shared",
        }
    }
}

/// What is known of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceDescriptor {
    /// Its identity; the same for every locator that leads to it.
    pub id: WorkspaceId,
    /// A name for people, such as the repository's folder name.
    pub name: String,
    /// The backend that keeps it.
    pub backend: WorkspaceBackendId,
    /// Where a person finds it, such as the repository's folder.
    pub locator: String,
}

/// Whether a head can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkspaceHeadState {
    /// It can be opened.
    Ready,
    /// It keeps everything and cannot be reopened until it is unarchived.
    Archived,
    /// Its files are gone; what was kept is in its receipt.
    Destroyed,
}

/// What is known of a head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceHeadDescriptor {
    /// Its identity, for ever.
    pub id: WorkspaceHeadId,
    /// The name that its maker gave it.
    pub name: WorkspaceHeadName,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// What it was made from, such as a commit id, or that of the empty tree in a Git repository without commits; empty
    /// for a backend without revisions.
    pub base: String,
    /// The branch that carries its commits, where the backend has branches.
    pub branch: Option<String>,
    /// How many sessions it serves.
    pub access: WorkspaceHeadAccess,
    /// Whether it can be used.
    pub state: WorkspaceHeadState,
    /// When it was made.
    pub created_at: Timestamp,
    /// The head it was forked from.
    pub forked_from: Option<WorkspaceHeadId>,
}
