use serde::{Deserialize, Serialize};

use super::Permissions;

/// What a write makes of the mode of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileMode {
    /// The mode of the file that is there; a new file is not executable.
    #[default]
    Kept,
    /// A file that is not executable.
    Plain,
    /// A file that whoever may read it may execute.
    Executable,
    /// A file with just these bits, from the moment in which it is made, and nothing of the one that it replaces. A tree
    /// that has no such bits keeps whether its owner may execute it.
    Exact(Permissions),
}

impl FileMode {
    /// Whether the file is executable after the write; `before` says whether it was, `false` for a new file.
    pub fn executable(self, before: bool) -> bool {
        match self {
            Self::Kept => before,
            Self::Plain => false,
            Self::Executable => true,
            Self::Exact(permissions) => permissions.executable(),
        }
    }
}

/// What a tree holds beside folders and plain files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct EntrySupport {
    /// Files that are executable, by [`write_with_mode`](super::SessionFileSystem::write_with_mode).
    pub executables: bool,
    /// Symbolic links, by [`create_link`](super::SessionFileSystem::create_link) and
    /// [`read_link`](super::SessionFileSystem::read_link).
    pub links: bool,
}

impl EntrySupport {
    /// Folders and plain files alone.
    pub const NONE: Self = Self {
        executables: false,
        links: false,
    };

    /// All that there is.
    pub const ALL: Self = Self {
        executables: true,
        links: true,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_kept_or_set() {
        for before in [false, true] {
            assert_eq!(FileMode::Kept.executable(before), before);
            assert!(!FileMode::Plain.executable(before));
            assert!(FileMode::Executable.executable(before));
        }
    }
}
