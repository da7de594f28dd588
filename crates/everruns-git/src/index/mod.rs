//! The index of a head: made from a checkpoint or a checkout, and written in one step.

mod cached_trees;
mod lock;
mod marks;
mod state;
mod write;
mod young;

pub(crate) use lock::{IndexLock, Leftover};
pub(crate) use marks::{Marks, left_out, marks_for_fork};
pub(crate) use state::{
    Seen, forget_the_young, mode_of, seen_by, write, write_as_is, write_staged,
};
pub(crate) use write::replace;
