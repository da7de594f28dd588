//! Sessions killed again and again, by the program that has both roles: parent and child.

use crate::context::Context;

/// What to pass on to the harness.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many processes are killed
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// Where the random choices begin
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Passed on; `cargo xtask crash -- --help` tells what there is
    #[arg(last = true)]
    more: Vec<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> anyhow::Result<bool> {
    context
        .cargo("run")
        .args(["--package", "everruns-crash", "--"])
        .args(["--rounds", &arguments.rounds.to_string()])
        .args(["--seed", &arguments.seed.to_string()])
        .args(&arguments.more)
        .run()?;
    Ok(true)
}
