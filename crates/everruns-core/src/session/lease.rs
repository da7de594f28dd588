use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::SessionId;

/// Who executes a session: unique to one engine in one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseOwner(pub String);

impl fmt::Display for LeaseOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Grows with every new holder of a session's lease; a change with an older token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FencingToken(pub u64);

/// A lease of somebody else, as it was seen. Each renewal gives it another end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLease {
    /// Who holds it.
    pub owner: LeaseOwner,
    /// Its end by the holder's clock.
    pub expires_at: Timestamp,
}

/// The right to execute a session, for as long as it is renewed in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The session.
    pub session: SessionId,
    /// Who holds it.
    pub owner: LeaseOwner,
    /// What changes must carry.
    pub token: FencingToken,
    /// Its end by the holder's clock, which others only use to tell one renewal from the next.
    pub expires_at: Timestamp,
}
