use std::path::PathBuf;

use everruns_core::file_system::FileSystemError;
use everruns_core::ids::WorkspaceBackendId;
use everruns_core::path::PathError;
use everruns_core::workspace::WorkspaceError;
use everruns_fs::{RootError, SeedError};

/// An agent that cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No provider was given.
    #[error("the agent has no model provider: call `AgentBuilder::provider`")]
    MissingProvider,
    /// No model was named.
    #[error("the agent has no model: call `AgentBuilder::model`")]
    MissingModel,
    /// Two backends have one id. The name to come;
    /// [`DuplicateWorkspaceProvider`](Self::DuplicateWorkspaceProvider) is emitted until then.
    #[error("two workspace backends have the id `{id}`: register one of them")]
    DuplicateWorkspaceBackend {
        /// The id.
        id: WorkspaceBackendId,
    },
    /// Two backends have one id.
    #[error("two workspace backends have the id `{id}`: register one of them")]
    DuplicateWorkspaceProvider {
        /// The id.
        id: WorkspaceBackendId,
    },
    /// Two tools have one name.
    #[error("two tools are named `{name}`: name one of them differently")]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// A tool has the name of a file tool.
    #[error("`{name}` is a file tool's name: name the tool differently")]
    ReservedToolName {
        /// The name.
        name: String,
    },
    /// A tool that providers would refuse.
    #[error("the tool `{}` cannot be used: {reason}", name.escape_debug())]
    InvalidTool {
        /// The name.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Two roots have one name.
    #[error("two roots are named `{name}`: name one of them differently")]
    DuplicateRoot {
        /// The name.
        name: String,
    },
    /// A root cannot be mounted beside the others.
    #[error(transparent)]
    InvalidRoot(RootError),
    /// Two files are given for one path.
    #[error("the file `{path}` is given twice")]
    DuplicateFile {
        /// The path.
        path: String,
    },
    /// The files that the agent brings cannot all be files of one tree.
    #[error(transparent)]
    InvalidFile(SeedError),
    /// A root's name or a file's path is not of the portable namespace.
    #[error("`{}` cannot be used: {source}", text.escape_debug())]
    InvalidPath {
        /// The text as given.
        text: String,
        /// What is wrong with it.
        source: PathError,
    },
    /// There is nothing at a path of the host.
    #[error("{} does not exist: make the folder first, or give another", path.display())]
    FolderMissing {
        /// The path.
        path: PathBuf,
    },
    /// A path of the host is no folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A path of the host cannot be looked at.
    #[error("{} cannot be looked at: {source}", path.display())]
    FolderUnreadable {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The folder of the agent's workspace cannot be used.
    #[error("the folder {} cannot be the workspace: {source}", path.display())]
    Workspace {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: Box<WorkspaceError>,
    },
    /// The folder of a root cannot be used.
    #[error("the folder {} cannot be the root `{name}`: {source}", path.display())]
    Root {
        /// The root's name.
        name: String,
        /// The path.
        path: PathBuf,
        /// Why not.
        source: Box<FileSystemError>,
    },
    /// No model request would be allowed in a turn.
    #[error("`max_iterations` is 0: allow at least one model request a turn")]
    NoIterations,
}

impl BuildError {
    /// Two backends have one id.
    pub(crate) fn duplicate_backend(id: WorkspaceBackendId) -> Self {
        Self::DuplicateWorkspaceProvider { id }
    }
}
