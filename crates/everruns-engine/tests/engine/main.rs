//! Sessions end to end, with a scripted model.

#[cfg(feature = "tools")]
mod files;
mod resume;
mod start;
mod support;
mod turns;
