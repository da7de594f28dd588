//! Moving references, always by compare-and-swap, never without a trace, and never with a lock that nobody answers for.
//!
//! References are written here and not by the library, because its locks don't say who holds them: one that a killed
//! process leaves could not be told from one that Git holds. The files and the order of steps are Git's own.

mod edit;
mod leftovers;
mod lock;
mod log;
mod packed;

pub(crate) use edit::Refs;
pub(crate) use leftovers::{dead_locks, remove_dead_locks};
pub(crate) use lock::is_of_dead;
pub(crate) use log::{SIGNATURE_EMAIL, SIGNATURE_NAME, moved_at, signature_time};
