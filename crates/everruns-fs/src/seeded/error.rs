use everruns_core::path::WorkspacePath;

/// Why files cannot be seeded together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// Two seeds have one path.
    #[error("{path} is seeded twice")]
    Duplicate {
        /// The path.
        path: WorkspacePath,
    },
    /// The path is the top folder of a mount, or lies below another seed, which is a file.
    #[error("{path} cannot be a seeded file: it is a folder, or lies below another seeded file")]
    NotAFile {
        /// The path.
        path: WorkspacePath,
    },
    /// The path belongs to Git's own folder.
    #[error("{path} belongs to Git's own folder, which is not part of the workspace")]
    GitInternal {
        /// The path.
        path: WorkspacePath,
    },
}
