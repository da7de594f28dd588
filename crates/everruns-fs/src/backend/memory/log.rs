use everruns_core::clock::Timestamp;
use everruns_core::ids::WorkspaceId;
use everruns_core::workspace::{CommitIdentity, WorkspaceError};

use super::MemoryWorkspaceBackend;
use super::commits::history;
use super::merge::unknown;

/// A commit of a workspace in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryCommit {
    /// The state that it holds. Commits with the same files have the same.
    pub revision: String,
    /// Its message, with a line feed at its end.
    pub message: String,
    /// Who was named as the author; nobody is made up.
    pub author: Option<CommitIdentity>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl MemoryWorkspaceBackend {
    /// The commits that lead to where a branch is, each before those that it was made from, `limit` at most.
    ///
    /// # Errors
    /// `WorkspaceNotFound`, `UnknownRevision`.
    pub fn log(
        &self,
        workspace: &WorkspaceId,
        branch: &str,
        limit: usize,
    ) -> Result<Vec<MemoryCommit>, WorkspaceError> {
        let tip = {
            let mut state = self.shared.state();
            let tip = state.workspace(workspace)?.branches.get(branch).cloned();
            tip.ok_or_else(|| unknown(branch))?
        };
        let commits = history(&tip).filter(|commit| commit.is_told());
        let told = commits.take(limit).map(|commit| MemoryCommit {
            revision: commit.tree.revision(),
            message: commit.note.message.clone(),
            author: commit.note.author.clone(),
            created_at: commit.note.at,
        });
        Ok(told.collect())
    }
}
