//! Finding paths and lines, on disk and in memory alike.
//!
//! A [`CompiledSearch`] is a checked query; [`stream::run`] walks a [`SearchSource`] with it. The walk is our own
//! and goes name by name through the source, so that nothing here opens a host path: `.gitignore` and
//! `.ignore` files are read like any other file of the tree, and neither they nor any result can come from
//! outside. Ignore files above the tree, the user's global ones and `.git/info/exclude` are not consulted.
//!
//! Paths come in byte order of their components. A file's lines are shown together or not at all, unless they alone exceed
//! a limit: then the search goes on after the last line that was shown
//! ([`resume_line`](everruns_core::file_system::SearchSummary::resume_line)). It repeats nothing and loses nothing.
//!
//! No step takes long. A text in which an expression might take long is gone through in parts, with a look at the clock
//! before each; where a single step might, an automaton that gives up in time is asked first, and a file in which it gives
//! up is passed over and counted ([`too_slow`](everruns_core::file_system::SearchSummary::too_slow)).

mod ahead;
mod bounded;
mod collector;
mod compile;
mod count;
mod effort;
mod globs;
mod lines;
mod look;
mod order;
mod rules;
mod source;
pub mod stream;
mod types;
mod walk;
mod watch;

pub use collector::Collector;
pub use compile::CompiledSearch;
pub use order::compare_by_components;
pub use source::{SearchSource, SourceEntry, SourceFile};
pub use types::of_types;
