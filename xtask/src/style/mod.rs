//! What no lint looks at: file sizes, leftovers, links, and words that do not belong into the project.

mod leftovers;
mod links;
mod size;
mod step;
mod words;

pub(crate) use step::step;
