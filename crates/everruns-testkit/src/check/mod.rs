//! How checks are run and reported.

#[macro_use]
mod macros;
mod failure;
mod report;
mod runner;

pub use failure::{CheckResult, Failure};
pub use report::{FailedCheck, Report};
pub use runner::Selection;
pub(crate) use runner::{Check, poll_times, run, settle};
