//! Checks of this workspace: `cargo xtask ci` runs all of them, the other commands one each.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a check reports to the terminal; nothing else reads it"
)]

mod bench;
mod cargo_steps;
mod ci;
mod claims;
mod command;
mod consumer;
mod context;
mod crash;
mod deny;
mod dependencies;
mod features;
mod files;
mod layers;
mod manifest;
mod markdown;
mod not_run;
mod readme;
mod rust_text;
mod snapshots;
mod step;
mod style;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::context::Context;
use crate::step::StepName;

/// Checks of the everruns workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check; what CI runs.
    Ci(ci::Arguments),
    /// Check that the crates depend on each other only along the arrows of the architecture.
    Layers,
    /// Check that every feature builds alone, and none, the default and all of them.
    Features,
    /// Print the claims with the tests that prove them.
    Claims(claims::Arguments),
    /// Measure whole operations beside `git` and `std::fs`; takes minutes, most of them for the release build.
    Bench(bench::Arguments),
    /// Kill sessions at random and check what is left of them; `-- --postgres URL` keeps them in a server.
    Crash(crash::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<bool> {
    let context = Context::discover()?;
    match &cli.command {
        Task::Ci(arguments) => Ok(ci::run(&context, arguments)),
        Task::Layers => Ok(ci::run_one(&context, StepName::Layers)),
        Task::Features => Ok(ci::run_one(&context, StepName::Features)),
        Task::Claims(arguments) => claims::run(&context, arguments),
        Task::Bench(arguments) => bench::run(&context, arguments),
        Task::Crash(arguments) => crash::run(&context, arguments),
    }
}
