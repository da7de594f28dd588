//! The status of a head: what `git status` prints, and what this backend can't do for it.

mod degraded;
mod entries;

pub(crate) use degraded::degraded;
pub(crate) use entries::entries;
