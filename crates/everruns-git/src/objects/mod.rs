//! New objects that are held back in memory, and stored together.
//!
//! An object by itself is a file of its own, which has to be made, named and flushed. Many at once are one pack.

mod encode;
mod held;
mod pack;

pub(crate) use held::{hand_over, hold, settle};
