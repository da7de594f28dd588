//! `cargo xtask crash --rounds N --seed S`

use std::io::Write as _;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use everruns_crash::{Kind, Options, Orders, Server, Share};

/// Kills sessions and checks what is left of them.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    child: Option<Role>,
    /// How many children are killed
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// Where the random choices begin; a failure names the seed of its round
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs so many rounds more at most, until every named step was hit
    #[arg(long, default_value_t = 0)]
    until_all: u64,
    /// Only heads of these kinds
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,
    /// Keeps the sessions in this database instead of SQLite; it should be empty
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Keeps the sessions in a PostgreSQL server that is started for it
    #[arg(long, conflicts_with = "postgres")]
    postgres_server: bool,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// What is killed; started by the parent
    Child(Orders),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    if let Some(Role::Child(orders)) = &cli.child {
        return everruns_crash::work(orders).await;
    }
    let server =
        if cli.postgres_server {
            let server = Server::start()?;
            Some(server.context(
                "there is no PostgreSQL (initdb, postgres) in PATH or /usr/lib/postgresql",
            )?)
        } else {
            None
        };
    let options = Options {
        program: std::env::current_exe()?,
        rounds: cli.rounds,
        seed: cli.seed,
        kinds: cli.kinds,
        share: Share::ALL,
        until_all: cli.until_all,
        postgres: cli
            .postgres
            .or_else(|| server.as_ref().map(|server| server.database("postgres"))),
    };
    let report = everruns_crash::run(&options).await?;
    write!(std::io::stdout(), "{report}")?;
    Ok(())
}
