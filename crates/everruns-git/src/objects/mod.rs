//! New objects: trees that are edited, and what is held back in memory to be stored together.
//!
//! An object by itself is a file of its own, which has to be made, named and flushed. Many at once are one pack.

mod edits;
mod encode;
mod held;
mod pack;

pub(crate) use edits::{Edits, Material, is_no_name_of_a_link};
pub(crate) use held::{Stored, forget, hand_over, hold, settle};
