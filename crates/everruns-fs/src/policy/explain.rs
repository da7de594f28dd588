use everruns_core::file_system::{FileAccess, FileSystemError, LastLink};
use everruns_core::path::WorkspacePath;

use super::{PolicyDecision, PolicyFileSystem};

impl PolicyFileSystem {
    /// Whether `path` may be accessed, and which rule decides: the policy's about this path, its other name where mounts
    /// overlap, or what a link on its way leads to; or that a root can only be read. A file or folder that is not there is
    /// judged as if it were.
    ///
    /// [`WorkspacePolicy::explain`](super::WorkspacePolicy::explain) tells about the path alone.
    ///
    /// # Errors
    /// As [`resolve`](everruns_core::file_system::SessionFileSystem::resolve) where no rule refuses, apart from `NotFound`:
    /// what leaves the tree, or is in an unknown root, is no matter of rules.
    pub async fn explain(
        &self,
        path: &WorkspacePath,
        access: FileAccess,
    ) -> Result<PolicyDecision, FileSystemError> {
        let decision = self.policy.explain(path, access);
        if !decision.allowed {
            return Ok(decision);
        }
        let resolved = match self.inner.resolve(path, LastLink::Follow).await {
            Err(FileSystemError::NotFound { .. }) => path.clone(),
            other => other?,
        };
        if resolved != *path {
            let really = self.policy.explain(&resolved, access);
            if !really.allowed {
                return Ok(PolicyDecision {
                    allowed: false,
                    rule: format!("{}: {path} leads to {resolved}", really.rule),
                });
            }
        }
        let root = match (&self.mounts, access) {
            (Some(mounts), FileAccess::Write) => mounts.read_only_root(&resolved),
            _ => None,
        };
        Ok(match root {
            None => decision,
            Some(root) => PolicyDecision {
                allowed: false,
                rule: format!("the root {root} can only be read"),
            },
        })
    }
}
