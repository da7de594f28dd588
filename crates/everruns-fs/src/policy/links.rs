use everruns_core::file_system::{FileSystemError, LastLink, LinkTarget};
use everruns_core::path::WorkspacePath;

use super::PolicyFileSystem;

impl PolicyFileSystem {
    /// Checks that a link at `path`, which lies at `resolved`, may say `target`: what it names, and what that leads to
    /// now, may be seen.
    ///
    /// It keeps names of hidden entries out of texts of links. That nothing is read or written through a link that the
    /// policy refuses does not depend on it: each operation is judged at what the path resolves to when it is made.
    pub(super) async fn check_target(
        &self,
        path: &WorkspacePath,
        resolved: &WorkspacePath,
        target: &LinkTarget,
    ) -> Result<(), FileSystemError> {
        let as_asked = |_: WorkspacePath| path.clone();
        let named = match target.leads_from(resolved) {
            Ok(Some(named)) => named,
            // No path of ours leads there, so no operation does.
            Ok(None) => return Ok(()),
            Err(error) => return Err(error.map_paths(&as_asked)),
        };
        let wanted = self.wanted_of(&named).await;
        let seen = self.judged(&named, LastLink::Follow, wanted).await;
        match seen {
            Err(
                error @ (FileSystemError::Denied { .. }
                | FileSystemError::GitInternal { .. }
                | FileSystemError::Escapes { .. }),
            ) => Err(error.map_paths(&as_asked)),
            // Whatever else is wrong with it shows when the link is followed.
            _ => Ok(()),
        }
    }

    /// As [`check_target`](Self::check_target), for the link `from` that is about to move to `to`, which lies at
    /// `resolved`. A text that leaves the tree names nothing in it; whether such a link may move is the tree's affair.
    pub(super) async fn check_moved_link(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        resolved: &WorkspacePath,
    ) -> Result<(), FileSystemError> {
        let target = self.inner.read_link(from).await?;
        match self.check_target(to, resolved, &target).await {
            Err(FileSystemError::Escapes { .. }) => Ok(()),
            other => other,
        }
    }
}
