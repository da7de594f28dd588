//! Bringing the work of a head into a branch.

mod checked_out;
mod into_branch;

pub(crate) use into_branch::merge;
