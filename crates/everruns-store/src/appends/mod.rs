//! Appends, many at once: who waits, and what becomes of a group. The drivers read and write.

mod group;
#[cfg(test)]
pub(crate) mod groups;
mod plan;

use everruns_core::session::{AppendReceipt, StoreError};

pub(crate) use group::{Appends, Locks, WritesGroups, append};
pub(crate) use plan::Plan;
#[cfg(feature = "sqlite")]
pub(crate) use plan::{NewEvent, Note};

pub(crate) const OPERATION: &str = "append events";

/// What became of a batch.
pub(crate) type Answer = Result<AppendReceipt, StoreError>;
