//! Searches beside the real `rg`: the same files and the same lines.
//!
//! Without `rg` these tests say so and prove nothing; in CI they fail.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "the helpers of tests panic, and say why nothing was tested"
)]

mod dependencies;
mod generated;
mod nasty;
mod ours;
mod own_sources;
mod real_sources;
mod rg;
mod same;
