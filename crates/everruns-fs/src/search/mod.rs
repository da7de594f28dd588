//! Finding paths and lines, on disk and in memory alike.
//!
//! A [`CompiledSearch`] is a checked query; [`stream::run`] walks a [`SearchSource`] with it. The walk is our own
//! and goes name by name through the source, so that nothing here opens a host path: `.gitignore` and
//! `.ignore` files are read like any other file of the tree, and neither they nor any result can come from
//! outside. Ignore files above the tree, the user's global ones and `.git/info/exclude` are not consulted.
//!
//! Paths come in byte order of their components. A file's lines are shown together or not at all, unless
//! they alone exceed a limit; so a search that continues after
//! [`resume_after`](everruns_core::file_system::SearchSummary::resume_after) repeats nothing, and loses lines only
//! of a file that is too much for one answer.

mod ahead;
mod collector;
mod compile;
mod count;
mod globs;
mod lines;
mod look;
mod order;
mod rules;
mod source;
pub mod stream;
mod types;
mod walk;

pub use collector::Collector;
pub use compile::CompiledSearch;
pub use order::compare_by_components;
pub use source::{SearchSource, SourceEntry, SourceFile};
pub use types::of_types;
