//! Rounds of kills in CI, 200 and more in each database: seeds are fixed, and a failure names its own.
//!
//! The runs on Git heads go on until every named step was hit, each for its share of them.
#![expect(
    clippy::print_stdout,
    reason = "the figures of the rounds are part of what the test tells"
)]

use everruns_crash::{Kind, Options, Server, Share};

/// Rounds on Git heads of one share, before those that only aim at what was not hit.
const ON_GIT: u64 = 60;
/// Rounds on heads of each other kind.
const ON_OTHERS: u64 = 40;
/// So many more rounds it may take to hit every step of a share.
const MORE: u64 = 120;

const FIRST_HALF: Share = Share { part: 0, of: 2 };
const SECOND_HALF: Share = Share { part: 1, of: 2 };

fn options(seed: u64, rounds: u64, kind: Kind) -> Options {
    Options {
        program: env!("CARGO_BIN_EXE_everruns-crash").into(),
        rounds,
        seed,
        kinds: vec![kind],
        postgres: None,
        share: Share::ALL,
        until_all: 0,
    }
}

fn on_git(seed: u64, share: Share) -> Options {
    Options {
        share,
        until_all: MORE,
        ..options(seed, ON_GIT, Kind::Git)
    }
}

async fn rounds(options: Options) {
    let report = everruns_crash::run(&options).await;
    let on_git = options.kinds.contains(&Kind::Git);
    let in_memory = options.kinds.contains(&Kind::Memory);
    let report = report.unwrap_or_else(|error| panic!("seed {}: {error:#}", options.seed));
    println!("seed {}: {report}", options.seed);
    assert!(report.rounds >= options.rounds, "{report}");
    assert!(report.killed_at_steps() > options.rounds / 10, "{report}");
    assert_eq!(report.own_changes > 0, on_git, "{report}");
    assert_eq!(report.rivals > 0, !in_memory, "{report}");
    assert!(report.at_random > options.rounds / 20, "{report}");
}

/// The same with records in a server of its own.
async fn rounds_in_postgresql(options: Options) {
    let server = Server::start().expect("an installed server starts");
    let Some(server) = server else {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
        let message = "NOT RUN: no PostgreSQL (initdb, postgres) in PATH or /usr/lib/postgresql";
        assert!(!in_ci, "{message}");
        println!("{message}");
        return;
    };
    rounds(Options {
        postgres: Some(server.database("postgres")),
        ..options
    })
    .await;
}

/// Proves C03, C06, C14, C15, H53 and H65, H66 on Git heads: killed at every other named step.
#[tokio::test]
async fn h53_h65_h66_sessions_on_git_heads_survive_kills() {
    rounds(on_git(1, FIRST_HALF)).await;
}

/// Proves C03, C06, C14, C15, H53 and H65, H66 on Git heads: killed at the named steps between those.
#[tokio::test]
async fn h53_h65_h66_sessions_on_git_heads_survive_other_kills() {
    rounds(on_git(2, SECOND_HALF)).await;
}

/// Proves C03, C14, C15, C18, H53 and H65, H66 on folders.
#[tokio::test]
async fn h53_h65_h66_sessions_on_directories_survive_kills() {
    rounds(options(3, ON_OTHERS, Kind::Directory)).await;
}

/// Proves C15 and H66 where heads end with their process: the conversation is there, and the head never is another.
#[tokio::test]
async fn h65_h66_sessions_on_heads_in_memory_leave_their_record() {
    rounds(options(4, ON_OTHERS, Kind::Memory)).await;
}

/// Proves C03, C14, C15, H53 and H65, H66 with records in PostgreSQL: killed at every other named step.
#[tokio::test]
async fn h53_h65_h66_sessions_in_postgresql_survive_kills() {
    rounds_in_postgresql(on_git(5, FIRST_HALF)).await;
}

/// Proves C03, C14, C15, H53 and H65, H66 with records in PostgreSQL: killed at the named steps between those.
#[tokio::test]
async fn h53_h65_h66_sessions_in_postgresql_survive_other_kills() {
    rounds_in_postgresql(on_git(6, SECOND_HALF)).await;
}

/// Proves C03, C14, C15, C18, H53 and H65, H66 on folders with records in PostgreSQL.
#[tokio::test]
async fn h53_h65_h66_directories_and_postgresql_survive_kills() {
    rounds_in_postgresql(options(7, ON_OTHERS, Kind::Directory)).await;
}

/// Proves C15 and H66 with records in PostgreSQL where heads end with their process.
#[tokio::test]
async fn h65_h66_heads_in_memory_leave_their_record_in_postgresql() {
    rounds_in_postgresql(options(8, ON_OTHERS, Kind::Memory)).await;
}
