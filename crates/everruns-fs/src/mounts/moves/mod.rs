//! Moves from one tree to another: copy, verify, remove.

mod copying;
mod end;
mod moving;
mod one_entry;
mod plan;
