//! How two states differ: which files, which lines, and the same as a patch.

mod changed;
mod files;
mod lines;
mod patch;
mod range;
mod states;
mod text;

pub(crate) use range::{patch, range};
