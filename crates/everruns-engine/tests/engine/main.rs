//! Sessions end to end, with a scripted model.

mod resume;
mod start;
mod support;
mod turns;
