//! Bringing the work of a head into a branch, and a branch into a head.

mod checked_out;
mod follow;
mod history;
mod into_branch;
mod three_way;
mod under_way;
mod update;

pub(crate) use into_branch::merge;
pub(crate) use update::update;
