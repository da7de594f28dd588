use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::WorkspaceHeadId;

/// A state of a head that can be restored, compared with and forked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceCheckpoint {
    /// The head it was taken of.
    pub head_id: WorkspaceHeadId,
    /// Its number in that head, counted from 1; 0 when the state was a revision that needed no record.
    pub number: u64,
    /// The backend's name of the state, such as a commit id.
    pub revision: String,
    /// When it was taken; where its backend doesn't know that any more, when what it holds was committed.
    pub created_at: Timestamp,
    /// What its maker called it.
    pub label: Option<String>,
    /// Whether it holds work that no commit of the head's branch holds.
    pub uncommitted: bool,
    /// Where tools other than this one find it, such as a Git reference; none when its backend keeps it elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How many paths differ from the commit it builds on; none when its backend does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_paths: Option<u64>,
    /// What could not be captured.
    pub uncaptured: Vec<UncapturedEntry>,
}

/// Something of a head that no checkpoint holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncapturedEntry {
    /// Its path below the head, bytes that are not UTF-8 escaped as `\xNN`.
    pub path: String,
    /// Why it is not captured.
    pub reason: String,
}
