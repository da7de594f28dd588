//! The status of a head: what `git status` prints, and what this backend can't do for it.

mod degraded;
mod entries;
mod filters;

pub(crate) use degraded::degraded;
pub(crate) use entries::entries;
