use std::fmt;
use std::io;

use super::{ContentVersion, FileKind, Precondition};
use crate::path::{PathError, WorkspacePath};

/// What a caller wants of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// To see it.
    Read,
    /// To change it.
    Write,
}

impl fmt::Display for FileAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// Why a file operation was refused or failed. Nothing has changed unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileSystemError {
    /// The text is no path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// There is nothing at the path.
    #[error("{path} does not exist")]
    NotFound {
        /// The path.
        path: WorkspacePath,
    },
    /// There is something at the path already.
    #[error("{path} exists already")]
    AlreadyExists {
        /// The path.
        path: WorkspacePath,
    },
    /// The entry is no regular file.
    #[error("{path} is not a regular file but a {}", kind_name(*kind))]
    NotAFile {
        /// The path.
        path: WorkspacePath,
        /// What it is.
        kind: FileKind,
    },
    /// The entry, or one on the way to it, is no folder.
    #[error("{path} is not a folder")]
    NotADirectory {
        /// The path.
        path: WorkspacePath,
    },
    /// The folder has entries.
    #[error("the folder {path} is not empty")]
    DirectoryNotEmpty {
        /// The path.
        path: WorkspacePath,
    },
    /// A link on the way leaves the tree.
    #[error("{path} leads out of the workspace through a link")]
    Escapes {
        /// The path.
        path: WorkspacePath,
    },
    /// Links lead in a circle, or there are too many.
    #[error("{path} goes through too many links")]
    LinkLoop {
        /// The path.
        path: WorkspacePath,
    },
    /// The path belongs to Git's own folder.
    #[error("{path} belongs to Git's own folder, which is not part of the workspace")]
    GitInternal {
        /// The path.
        path: WorkspacePath,
    },
    /// The policy does not allow it.
    #[error("the policy does not allow to {access} {path}: {rule}")]
    Denied {
        /// The path.
        path: WorkspacePath,
        /// What was wanted.
        access: FileAccess,
        /// Which rule decided.
        rule: String,
    },
    /// The file or its mount can only be read.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The path.
        path: WorkspacePath,
    },
    /// The precondition does not hold.
    #[error(
        "{path} is not as expected: expected {expected}, found {}",
        current.map_or_else(|| "no file".to_owned(), |v| format!("version {}", v.short()))
    )]
    Conflict {
        /// The path.
        path: WorkspacePath,
        /// What was expected.
        expected: Precondition,
        /// The version now; `None` when there is no file.
        current: Option<ContentVersion>,
    },
    /// The file is larger than the limit.
    #[error("{path} has {size} bytes: the limit is {limit}")]
    TooLarge {
        /// The path.
        path: WorkspacePath,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A limit of the session is reached.
    #[error("{path} cannot be written: the limit of {limit} {what} is reached")]
    LimitReached {
        /// The path.
        path: WorkspacePath,
        /// What is limited.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// No root of that name is mounted.
    #[error(
        "there is no root `{name}`; {}",
        if known.is_empty() { "no roots are mounted".to_owned() } else { format!("there are: {}", known.join(", ")) }
    )]
    UnknownRoot {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The operation makes no sense for this path.
    #[error("{path}: {reason}")]
    InvalidOperation {
        /// The path.
        path: WorkspacePath,
        /// Why not.
        reason: &'static str,
    },
    /// The tree holds no such entries.
    #[error("{path}: this tree holds no {what}")]
    Unsupported {
        /// The path.
        path: WorkspacePath,
        /// Which entries.
        what: &'static str,
    },
    /// A glob or regular expression that cannot be used.
    #[error("`{}` cannot be used as a pattern: {reason}", pattern.escape_debug())]
    InvalidPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The tree's top folder is no longer the one that was opened.
    #[error("the folder of this workspace was replaced or removed: {reason}")]
    StaleRoot {
        /// What was found; without the folder's path on the host, as a model may see it.
        reason: String,
    },
    /// The disk or quota is full. The old content is kept.
    #[error("no space, or no quota, is left to {step} {path}; the old content is kept")]
    NoSpace {
        /// The path.
        path: WorkspacePath,
        /// Which step failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The process, or the host, has as many files open as it may. Every open head holds one descriptor. The old content
    /// is kept.
    #[error(
        "too many files are open to {step} {path}: drop heads and sessions that are not in use, or raise the limit \
         of open files (`ulimit -n`); nothing was changed"
    )]
    TooManyOpenFiles {
        /// The path.
        path: WorkspacePath,
        /// Which step failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The host refused or failed. The old content is kept.
    #[error("could not {step} {path}: {source}")]
    Io {
        /// The path.
        path: WorkspacePath,
        /// Which step failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The change was made, but the disk did not say that it is on stable storage.
    #[error(
        "{path} was changed, but could not be made to last: {source}. It is as asked for now, and may be as before \
         when the host stops"
    )]
    NotFlushed {
        /// The path; of a move, the destination.
        path: WorkspacePath,
        /// The system's error.
        source: io::Error,
    },
    /// The change was made, but what it displaced may be what another program had saved in the last moment, and could
    /// not be put back. It is kept beside the file, hidden from the tree.
    #[error(
        "{path} was changed in the moment in which another program may have changed it, and what was there could not \
         be put back: it is kept in the same folder under the name {kept}"
    )]
    NotPutBack {
        /// The path.
        path: WorkspacePath,
        /// The name of the hidden file, in the folder of the one that was changed.
        kept: String,
        /// Why it could not be put back.
        source: Box<Self>,
    },
    /// A move, as a rule one between two trees, has all at its destination, but did not remove the source; both exist. What
    /// was at the destination before is replaced.
    #[error("{from} was copied to {to}, but could not be removed: both exist")]
    PartialMove {
        /// Where it was and still is.
        from: WorkspacePath,
        /// Where it is now, too.
        to: WorkspacePath,
        /// Why the source was not removed.
        source: Box<Self>,
    },
    /// A move between two trees was given up. The source is whole and was not touched; of what was copied something could
    /// not be taken back.
    #[error("{from} was not moved and is whole, but a part of a copy of it is left at {to}")]
    PartialCopy {
        /// Where it is.
        from: WorkspacePath,
        /// Where a part of it is, too.
        to: WorkspacePath,
        /// Why it was not moved.
        source: Box<Self>,
    },
}

impl FileSystemError {
    /// Whether the same call may succeed later without any change of the caller's.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(
                    source.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::ResourceBusy
                )
            }
            Self::TooManyOpenFiles { .. } => true,
            _ => false,
        }
    }

    /// Whether the change that ended with this error was made all the same.
    pub fn is_of_a_made_change(&self) -> bool {
        matches!(self, Self::NotFlushed { .. } | Self::NotPutBack { .. })
    }
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "folder",
        FileKind::Symlink => "symbolic link",
        FileKind::Special => "FIFO, socket or device",
    }
}
