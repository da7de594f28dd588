//! The README is true: its Rust compiles as printed, and its commands work.

mod commands;
mod rust_blocks;
mod step;

pub(crate) use step::step;
