//! Rounds of kills in CI: seeds are fixed, and a failure names its own.
#![expect(
    clippy::print_stdout,
    reason = "the figures of the rounds are part of what the test tells"
)]

use everruns_crash::{Kind, Options, Server};

fn options(seed: u64, rounds: u64, kinds: &[Kind]) -> Options {
    Options {
        program: env!("CARGO_BIN_EXE_everruns-crash").into(),
        rounds,
        seed,
        kinds: kinds.to_vec(),
        postgres: None,
    }
}

async fn rounds(options: Options) {
    let report = everruns_crash::run(&options).await;
    let on_git = options.kinds.contains(&Kind::Git);
    let report = report.unwrap_or_else(|error| panic!("seed {}: {error:#}", options.seed));
    println!("seed {}: {report}", options.seed);
    assert_eq!(report.rounds, options.rounds);
    assert!(report.killed_at_steps() > options.rounds / 10, "{report}");
    assert_eq!(report.own_changes > 0, on_git, "{report}");
    assert!(report.at_random > options.rounds / 20, "{report}");
}

/// Proves C03, C06, C14, C15 and H65, H66 on Git heads.
#[tokio::test]
async fn h65_h66_sessions_on_git_heads_survive_kills() {
    rounds(options(1, 50, &[Kind::Git])).await;
}

/// Proves C03, C06, C14, C15 and H65, H66 on Git heads, with other choices.
#[tokio::test]
async fn h65_h66_sessions_on_git_heads_survive_other_kills() {
    rounds(options(2, 50, &[Kind::Git])).await;
}

/// Proves C03, C14, C15, C18 and H65, H66 on folders.
#[tokio::test]
async fn h65_h66_sessions_on_directories_survive_kills() {
    rounds(options(3, 50, &[Kind::Directory])).await;
}

/// Proves C15 and H66 where heads end with their process: the conversation is there, and the head never is another.
#[tokio::test]
async fn h65_h66_sessions_on_heads_in_memory_leave_their_record() {
    rounds(options(4, 50, &[Kind::Memory])).await;
}

/// Proves C03, C14, C15 and H65, H66 with records in PostgreSQL.
#[tokio::test]
async fn h65_h66_sessions_in_postgresql_survive_kills() {
    let server = Server::start().expect("an installed server starts");
    let Some(server) = server else {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        let message = "NOT RUN: no PostgreSQL (initdb, postgres) in PATH or /usr/lib/postgresql";
        assert!(!in_ci, "{message}");
        eprintln!("{message}");
        return;
    };
    let mut options = options(5, 30, &[Kind::Git]);
    options.postgres = Some(server.database("postgres"));
    rounds(options).await;
}
