//! How two states differ: which files, and which lines.

mod files;
mod lines;
mod text;

pub(crate) use files::{Bounds, compare};
