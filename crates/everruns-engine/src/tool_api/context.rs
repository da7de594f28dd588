use std::any::Any;
use std::sync::Arc;

use everruns_core::compute::Compute;
use everruns_core::environment::Environment;
use everruns_core::file_system::SessionFileSystem;
use everruns_core::ids::SessionId;
use everruns_core::workspace::WorkspaceHead;
use tokio_util::sync::CancellationToken;

use super::SeenFiles;

/// What a tool call may use: the session's files, and what its environment holds. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolContext {
    session_id: SessionId,
    environment: Environment,
    files: Arc<dyn SessionFileSystem>,
    #[cfg_attr(
        not(feature = "tools"),
        expect(dead_code, reason = "only the file tools read and write files")
    )]
    seen: Arc<SeenFiles>,
    cancellation: CancellationToken,
}

impl ToolContext {
    pub(crate) fn new(
        session_id: SessionId,
        environment: Environment,
        files: Arc<dyn SessionFileSystem>,
        seen: Arc<SeenFiles>,
        cancellation: CancellationToken,
    ) -> Self {
        Self {
            session_id,
            environment,
            files,
            seen,
            cancellation,
        }
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// The session's files: head and roots under one policy. There is no other way to the bytes.
    pub fn file_system(&self) -> &Arc<dyn SessionFileSystem> {
        &self.files
    }

    /// The head: the very one that the files are of.
    pub fn workspace_head(&self) -> &WorkspaceHead {
        self.environment.workspace_head()
    }

    /// The environment's extension of type `T`.
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.environment.extension()
    }

    /// Where commands run, when anywhere.
    pub fn compute(&self) -> Option<&Arc<dyn Compute>> {
        self.environment.compute()
    }

    /// Cancelled when the turn is.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Which versions of files this session has read.
    #[cfg(feature = "tools")]
    pub(crate) fn seen(&self) -> &SeenFiles {
        &self.seen
    }
}
