//! Bringing what a reference is going to vouch for to the disk, before it does.

mod folders;
mod objects;
mod reference;
mod together;
mod worktree;

use std::time::Instant;

pub(crate) use objects::FlushedObjects;
pub(crate) use reference::flush_reference;
pub(crate) use worktree::flush_folders_of;

/// Tells how long a flush took that began at `begun`, for whoever wants to know what durability costs.
pub(crate) fn tell(begun: Instant, what: &'static str) {
    let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    tracing::debug!(target: "everruns_git::flush", micros, "{what}");
}
