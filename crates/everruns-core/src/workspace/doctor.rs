use serde::{Deserialize, Serialize};

/// What a backend found when it looked for leftovers of its own.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DoctorReport {
    /// What it found, in a stable order. Empty when all is well.
    pub findings: Vec<Finding>,
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable name for programs, such as `branch-without-head`.
    pub kind: String,
    /// What it is about: a path, a branch, a head's id.
    pub subject: String,
    /// What it means and what can be done, for people.
    pub detail: String,
    /// Whether the backend can prove that this is its own, and so may put it right.
    pub repairable: bool,
    /// Whether it was put right just now.
    pub repaired: bool,
}
