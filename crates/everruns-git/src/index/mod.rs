//! The index of a head: made from a checkpoint or a checkout, and written in one step.

mod cached_trees;
mod lock;
mod state;
mod write;
mod young;

pub(crate) use lock::{IndexLock, Leftover};
pub(crate) use state::{
    Seen, forget_the_young, left_out, mode_of, seen_by, write, write_as_is, write_staged,
};
pub(crate) use write::replace;
