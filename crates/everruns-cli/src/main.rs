//! The `everruns` command: agents in isolated, durable, resumable heads of your own repositories.

mod agents;
mod args;
mod blocking;
mod commands;
mod confirm;
mod demo;
mod failure;
mod files;
mod free_name;
mod hints;
mod output;
mod own_files;
mod progress;
mod provider;
mod reconcile;
mod repository;
mod sessions;
mod state;
mod table;
mod times;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use args::{Cli, Command};
use failure::Failure;
use output::{Output, note};
use state::StateFolder;

/// How long the end of the program waits for work that cannot be stopped in the middle.
const AT_THE_END: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let built = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = match built {
        Ok(runtime) => runtime,
        Err(error) => {
            note(&format!("error: the program cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(program());
    runtime.shutdown_timeout(AT_THE_END);
    code
}

async fn program() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            EnvFilter::try_from_env("EVERRUNS_LOG").unwrap_or_else(|_| EnvFilter::new("off")),
        )
        .with_writer(std::io::stderr)
        .init();
    let output = Output { json: cli.json };
    match dispatch(cli, output).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if output.json {
                note(&failure.to_json().to_string());
            } else {
                note(&format!("error: {failure}"));
            }
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(cli: Cli, output: Output) -> Result<(), Failure> {
    if let Command::Demo(args) = cli.command {
        return demo::run(args).await;
    }
    let state = StateFolder::choose(cli.state)?;
    match cli.command {
        Command::Demo(_) => Ok(()),
        Command::DemoChild(args) => demo::child(&state, args).await,
        Command::Run(args) => commands::run::run(&state, output, args).await,
        Command::Resume(args) => commands::resume::run(&state, output, args).await,
        Command::Session(command) => commands::session::run(&state, output, command).await,
        Command::Backup(args) => commands::backup::run(&state, output, args).await,
        Command::RestoreBackup(args) => commands::restore_backup::run(&state, output, args).await,
        Command::Doctor { repair } => commands::doctor::run(&state, output, repair).await,
        Command::Head(command) => commands::head::run(&state, output, command).await,
    }
}
