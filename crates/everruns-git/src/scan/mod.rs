//! One look at a working tree: how it differs from its index, and the index from the commit.

mod folding;
mod listing;
mod look;
mod place;
mod submodules;
mod touched;
mod tracked;
mod untracked;

pub(crate) use listing::Listing;
pub(crate) use look::{Purpose, Scan, path_of, scan};
pub(crate) use place::{Place as SubmodulePlace, open as open_submodule, open_git_dir};
pub(crate) use submodules::DEEPEST;
pub(crate) use untracked::RULES;
