//! One command from its request to its outcome.

mod environment;
mod job;
mod output;
mod programs;
mod reaper;
mod spawn;

pub(crate) use job::Job;
pub(crate) use programs::Programs;
