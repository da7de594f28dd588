//! What no lint looks at: file sizes, leftovers, and words that do not belong into the project.

mod leftovers;
mod size;
mod step;
mod words;

pub(crate) use step::step;
