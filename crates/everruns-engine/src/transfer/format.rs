use everruns_core::session::{SessionRecord, StoreError};
use serde::{Deserialize, Serialize};

/// The version that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) everruns_session: u64,
    pub(super) session: SessionRecord,
}

/// Only the version, which says whether the rest can be read.
#[derive(Debug, Deserialize)]
pub(super) struct Version {
    pub(super) everruns_session: u64,
}

/// Why a session was not imported. Nothing of it is left, unless the store could not remove it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The first line is not that of an exported session.
    #[error("this is no exported session: {reason}")]
    NotAnExport {
        /// What is wrong.
        reason: String,
    },
    /// A newer version wrote it.
    #[error(
        "the session was exported in format {found}; this program knows up to {FORMAT_VERSION}"
    )]
    NewerFormat {
        /// The format.
        found: u64,
    },
    /// A line is not the event that follows.
    #[error("line {line} is not the next event: {reason}")]
    BadLine {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Lines are missing at the end.
    #[error("the session has {expected} events, and {found} are here: the end is missing")]
    Incomplete {
        /// As the first line says.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The lines could not be read.
    #[error("the session cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
