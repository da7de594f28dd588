use everruns_core::file_system::{ContentVersion, FileSystemError};

/// Why an operation is refused, as far as a caller can tell reasons apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    NotFound,
    AlreadyExists,
    NotAFile,
    NotADirectory,
    NotEmpty,
    Invalid,
    Conflict(Option<ContentVersion>),
    Denied,
    TooLarge,
    Limit,
}

impl Fault {
    pub(super) fn of(error: &FileSystemError) -> Self {
        match error {
            FileSystemError::NotFound { .. } => Self::NotFound,
            FileSystemError::AlreadyExists { .. } => Self::AlreadyExists,
            FileSystemError::NotAFile { .. } => Self::NotAFile,
            FileSystemError::NotADirectory { .. } => Self::NotADirectory,
            FileSystemError::DirectoryNotEmpty { .. } => Self::NotEmpty,
            FileSystemError::InvalidOperation { .. } => Self::Invalid,
            FileSystemError::Conflict { current, .. } => Self::Conflict(*current),
            FileSystemError::Denied { .. } => Self::Denied,
            FileSystemError::TooLarge { .. } => Self::TooLarge,
            FileSystemError::LimitReached { .. } => Self::Limit,
            other => panic!("no operation here fails so: {other:?}"),
        }
    }
}
