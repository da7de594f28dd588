use super::FileSystemError;
use crate::path::WorkspacePath;

impl FileSystemError {
    /// The same error about other paths: `map` is applied to every path in it.
    ///
    /// A wrapper that shows a tree under another name gives its errors the names that its caller knows.
    #[must_use]
    pub fn map_paths(self, map: &dyn Fn(WorkspacePath) -> WorkspacePath) -> Self {
        match self {
            Self::NotFound { path } => Self::NotFound { path: map(path) },
            Self::AlreadyExists { path } => Self::AlreadyExists { path: map(path) },
            Self::NotAFile { path, kind } => Self::NotAFile {
                path: map(path),
                kind,
            },
            Self::NotADirectory { path } => Self::NotADirectory { path: map(path) },
            Self::DirectoryNotEmpty { path } => Self::DirectoryNotEmpty { path: map(path) },
            Self::Escapes { path } => Self::Escapes { path: map(path) },
            Self::LinkLoop { path } => Self::LinkLoop { path: map(path) },
            Self::GitInternal { path } => Self::GitInternal { path: map(path) },
            Self::Denied { path, access, rule } => Self::Denied {
                path: map(path),
                access,
                rule,
            },
            Self::ReadOnly { path } => Self::ReadOnly { path: map(path) },
            Self::Conflict {
                path,
                expected,
                current,
            } => Self::Conflict {
                path: map(path),
                expected,
                current,
            },
            Self::TooLarge { path, size, limit } => Self::TooLarge {
                path: map(path),
                size,
                limit,
            },
            Self::LimitReached { path, what, limit } => Self::LimitReached {
                path: map(path),
                what,
                limit,
            },
            Self::InvalidOperation { path, reason } => Self::InvalidOperation {
                path: map(path),
                reason,
            },
            Self::Unsupported { path, what } => Self::Unsupported {
                path: map(path),
                what,
            },
            Self::NoSpace { path, step, source } => Self::NoSpace {
                path: map(path),
                step,
                source,
            },
            Self::TooManyOpenFiles { path, step, source } => Self::TooManyOpenFiles {
                path: map(path),
                step,
                source,
            },
            Self::Io { path, step, source } => Self::Io {
                path: map(path),
                step,
                source,
            },
            Self::NotFlushed { path, source } => Self::NotFlushed {
                path: map(path),
                source,
            },
            Self::NotPutBack { path, kept, source } => Self::NotPutBack {
                path: map(path),
                kept,
                source: Box::new(source.map_paths(map)),
            },
            Self::PartialCopy { from, to, source } => Self::PartialCopy {
                from: map(from),
                to: map(to),
                source: Box::new(source.map_paths(map)),
            },
            Self::PartialMove { from, to, source } => Self::PartialMove {
                from: map(from),
                to: map(to),
                source: Box::new(source.map_paths(map)),
            },
            unchanged @ (Self::Path(_)
            | Self::UnknownRoot { .. }
            | Self::InvalidPattern { .. }
            | Self::StaleRoot { .. }) => unchanged,
        }
    }
}
