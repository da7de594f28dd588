use serde::{Deserialize, Serialize};

use super::UncapturedEntry;

/// In whose name a commit is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitIdentity {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

impl CommitIdentity {
    /// The identity `name` with the address `email`.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            email: email.into(),
        }
    }
}

/// A commit of a head's working state on the head's branch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CommitRequest {
    /// The message. Blank lines around it and spaces at the ends of lines are dropped; nothing may remain only if
    /// a merge that brings its own message is being concluded.
    pub message: String,
    /// The author; who is configured for the repository or the user when `None`. Never made up.
    pub author: Option<CommitIdentity>,
    /// What to commit: these files, and everything below these folders. Everything when empty.
    pub paths: Vec<String>,
    /// Whether files that are in conflict count as resolved by what is in them now. Without it a head with
    /// conflicts is refused.
    pub resolve_conflicts: bool,
}

impl CommitRequest {
    /// A commit of everything, in the name of who is configured.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }
}

/// What a commit made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitReceipt {
    /// The commit.
    pub revision: String,
    /// The branch that it is on now.
    pub branch: String,
    /// The paths that it changed, sorted, bytes that are not UTF-8 escaped.
    pub changed: Vec<String>,
    /// What was left out because no commit can hold it.
    pub uncaptured: Vec<UncapturedEntry>,
}
