use super::{WorkspaceHeadAccess, WorkspaceHeadName};
use crate::ids::WorkspaceId;

/// A wish for a new head, as a backend gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceHeadRequest {
    /// The workspace it is to belong to.
    pub workspace_id: WorkspaceId,
    /// Its name.
    pub name: WorkspaceHeadName,
    /// What to make it from, in the backend's own syntax; the backend's default when `None`.
    pub revision: Option<String>,
    /// How many sessions it is to serve.
    pub access: WorkspaceHeadAccess,
    /// The locator by which the workspace was opened, if it is known: of several working trees of a repository, ignored
    /// files come from the one that it lies in.
    pub locator: Option<String>,
    /// Patterns, in gitignore syntax, of ignored files to bring along; backends without any have no use for them.
    pub include_ignored: Vec<String>,
}

impl WorkspaceHeadRequest {
    /// An isolated head `name` from the backend's default revision.
    pub fn new(workspace_id: WorkspaceId, name: WorkspaceHeadName) -> Self {
        Self {
            workspace_id,
            name,
            revision: None,
            access: WorkspaceHeadAccess::Isolated,
            locator: None,
            include_ignored: Vec::new(),
        }
    }
}
