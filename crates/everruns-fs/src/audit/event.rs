use everruns_core::file_system::{
    ContentVersion, FileMode, FileSystemError, LinkTarget, Removal, Replace,
};
use everruns_core::path::WorkspacePath;

/// One change that was asked for, and what became of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditEvent<'a> {
    /// The path that was asked for; where a move began.
    pub path: &'a WorkspacePath,
    /// What was asked for.
    pub operation: AuditOperation<'a>,
    /// The version of the file before; `None` when there was none, for folders and links, and where it could not be told.
    ///
    /// It is exact when a change with a precondition was made. Otherwise it is what the file was just before, so
    /// another writer can have come in between.
    pub before: Option<ContentVersion>,
    /// The version of the file afterwards; `None` when there is none, for folders and links, and unless the change was made and
    /// lasts.
    pub after: Option<ContentVersion>,
    /// What became of it.
    pub outcome: AuditOutcome<'a>,
}

/// What a change was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditOperation<'a> {
    /// A file was to be written.
    Write {
        /// How many bytes.
        bytes: u64,
        /// What was to become of its mode.
        mode: FileMode,
    },
    /// A symbolic link was to be made.
    CreateLink {
        /// Its text.
        target: &'a LinkTarget,
        /// What it might replace.
        replace: Replace,
    },
    /// An entry was to be removed.
    Remove {
        /// With how much below it.
        removal: Removal,
    },
    /// An entry was to be moved.
    Rename {
        /// Where to.
        to: &'a WorkspacePath,
        /// What it might replace.
        replace: Replace,
    },
    /// A folder was to be made.
    CreateDir,
}

/// What became of a change.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AuditOutcome<'a> {
    /// It was made.
    Done,
    /// It was refused or failed.
    Failed(&'a FileSystemError),
    /// Nobody waited for its end: it was made whole or not at all.
    Abandoned,
}
