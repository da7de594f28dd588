use serde::{Deserialize, Serialize};

/// The ignored files that a new head got from the user's own working tree.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IgnoredReport {
    /// The files that came along, sorted by path.
    pub included: Vec<IncludedFile>,
    /// What was asked for and did not come along, sorted by path.
    pub skipped: Vec<SkippedFile>,
}

/// An ignored file that came along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncludedFile {
    /// The path below the head, bytes that are not UTF-8 escaped as `\xNN`.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it shares its bytes with the original until one of them changes, rather than being a copy.
    pub shared: bool,
}

/// A file that was asked for and did not come along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// The path below the head, bytes that are not UTF-8 escaped as `\xNN`.
    pub path: String,
    /// Why not.
    pub reason: String,
}
