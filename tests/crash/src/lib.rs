//! Sessions in processes that are killed again and again, and what must be left of them.
//!
//! A round is one child process that works on a session with random tool calls, goes back, forks, commits, merges,
//! resolves conflicts, deletes and destroys between its turns, and is killed at a named step or at a random moment. What
//! the child saw acknowledged it has written to its standard output before it went on. Then the parent looks at the store
//! and at the files, resumes the session and lets it finish a turn.
//!
//! In some rounds another process waits for the same session while the child executes it, asks for it again and again, and
//! has a turn with it as soon as the child is gone.
//!
//! Steps that were not hit yet are aimed at first; a long run in which a step was never hit fails, and any run that
//! mostly missed one. Everything else that is random comes from the seed of the round, apart from the moment at which a
//! kill finds the child.

mod check;
mod child;
mod clash;
mod failpoints;
mod files;
mod model;
mod place;
mod project;
mod random;
mod report;
mod round;
mod script;
mod trip;
mod world;

pub use child::{Orders, work};
pub use everruns_testkit::postgres::Server;
pub use failpoints::{ELSEWHERE, FAILPOINTS};
pub use place::{Kind, Place};
pub use report::Report;
pub use round::{Options, Share, run};
pub use trip::Trip;
