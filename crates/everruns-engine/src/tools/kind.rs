use everruns_core::file_system::FileKind;
use schemars::JsonSchema;
use serde::Serialize;

/// What an entry is, in what tools tell programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Something else, which cannot be opened.
    Special,
}

impl From<FileKind> for Kind {
    fn from(kind: FileKind) -> Self {
        match kind {
            FileKind::File => Self::File,
            FileKind::Directory => Self::Folder,
            FileKind::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}
