use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ContentVersion, FileSystemError};
use crate::path::WorkspacePath;

/// What must hold of a file for a change to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Nothing.
    #[default]
    Any,
    /// There is no entry at the path.
    Absent,
    /// There is a file, and its bytes have this version.
    Matches(ContentVersion),
}

impl Precondition {
    /// Checks the precondition against the `current` version, `None` when there is no file.
    ///
    /// # Errors
    /// [`FileSystemError::Conflict`] with the current version.
    pub fn check(
        self,
        path: &WorkspacePath,
        current: Option<ContentVersion>,
    ) -> Result<(), FileSystemError> {
        let holds = match self {
            Self::Any => true,
            Self::Absent => current.is_none(),
            Self::Matches(version) => current == Some(version),
        };
        if holds {
            Ok(())
        } else {
            Err(FileSystemError::Conflict {
                path: path.clone(),
                expected: self,
                current,
            })
        }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Absent => f.write_str("no file"),
            Self::Matches(version) => write!(f, "version {}", version.short()),
        }
    }
}

/// How much a removal may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// One file, link or empty folder.
    Entry,
    /// A folder and all below it, too.
    Recursive,
}

/// Whether a move may replace what is at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// An existing destination is an error.
    Never,
    /// A file or link may be replaced by a file or link, whatever is in it.
    File,
    /// A file whose bytes have this version is replaced by a file or link; there must be one.
    Matches(ContentVersion),
}

impl Replace {
    /// What must hold of the destination, when the one who asks does not care for links.
    pub fn precondition(self) -> Precondition {
        match self {
            Self::Never => Precondition::Absent,
            Self::File => Precondition::Any,
            Self::Matches(version) => Precondition::Matches(version),
        }
    }
}

/// Whether a link at the very end of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLink {
    /// Yes, as reading and writing do.
    Follow,
    /// No, as removing, moving and telling about an entry do.
    Keep,
}
