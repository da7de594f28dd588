//! Whole operations measured beside `git` and `std::fs`, and files in memory by criterion, in a release build.

use crate::context::Context;

/// What to pass on to the benchmark.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Passed on; `cargo xtask bench -- --help` tells what there is
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> anyhow::Result<bool> {
    context
        .cargo("run")
        .args(["--release", "--package", "everruns-bench", "--"])
        .args(&arguments.arguments)
        .run()?;
    Ok(true)
}
