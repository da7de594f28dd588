//! The steps that are one call of cargo on the whole workspace.
//!
//! All of them turn every feature on: the `PostgreSQL` store and the failpoints are code like any
//! other, and one feature set means that the steps share what they build.

use std::path::PathBuf;

use crate::context::Context;
use crate::not_run::NotRun;
use crate::step::Outcome;

/// The sources are formatted.
pub(crate) fn fmt(context: &Context) -> anyhow::Result<Outcome> {
    context
        .cargo("fmt")
        .args(["--all", "--", "--check", "-l"])
        .run()?;
    Ok(Outcome::Passed(String::new()))
}

/// No lint speaks up, tests and examples included.
pub(crate) fn clippy(context: &Context) -> anyhow::Result<Outcome> {
    context
        .cargo_locked("clippy")
        .args([
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ])
        .run()?;
    Ok(Outcome::Passed("every target, every feature".to_owned()))
}

/// The seed of generated cases in CI, where the same sources are to give the same answer each time.
const CI_SEED: &str = "20261130";

/// Every test passes. Pending snapshots are an error, never an update.
///
/// Generated cases are new ones each time, but in CI: `PROPTEST_RNG_SEED` chooses them, and
/// `PROPTEST_CASES` how many there are of each kind.
pub(crate) fn tests(context: &Context) -> anyhow::Result<Outcome> {
    let nextest = context.has_cargo_tool("nextest");
    let command = if nextest {
        let profile = if context.ci { "ci" } else { "default" };
        // `--locked` belongs to `run`: cargo passes all that follows its name on to nextest.
        let run = context.cargo("nextest").arg("run");
        run.args(context.ci.then_some("--locked")).args([
            "--workspace",
            "--all-features",
            "--no-fail-fast",
            "--profile",
            profile,
        ])
    } else {
        println!("!!!! cargo-nextest is not installed: `cargo test` runs in its place, without");
        println!("!!!! time limits. Install it with `cargo install --locked cargo-nextest`.");
        context.cargo_locked("test").args([
            "--workspace",
            "--all-features",
            "--all-targets",
            "--no-fail-fast",
        ])
    };
    let seeded = context.ci && std::env::var_os("PROPTEST_RNG_SEED").is_none();
    let command = if seeded {
        command.env("PROPTEST_RNG_SEED", CI_SEED)
    } else {
        command
    };
    let (passed, mut summaries) = command.env("INSTA_UPDATE", "no").run_keeping(is_summary)?;
    if !nextest {
        summaries.push("by cargo test: cargo-nextest is not installed".to_owned());
    }
    if summaries.is_empty() {
        summaries.push("no test ran".to_owned());
    }
    let note = summaries.join("; ");
    // Without nextest nothing tells: `cargo test` keeps what passing tests say to itself.
    let not_run = if !passed {
        NotRun::default()
    } else if nextest {
        NotRun::in_report(&report(context))?
    } else {
        let what = "what passing tests could not do: cargo-nextest is not installed";
        NotRun {
            missing: vec![what.to_owned()],
            ..NotRun::default()
        }
    };
    for reason in not_run.all() {
        println!("  not tested on this host: {reason}");
    }
    Ok(judged(passed, context.ci, note, &not_run))
}

/// Where nextest leaves its report, as `.config/nextest.toml` says; not below a target folder of another place.
fn report(context: &Context) -> PathBuf {
    let profile = if context.ci { "ci" } else { "default" };
    let folder = context.root.join("target/nextest").join(profile);
    folder.join("junit.xml")
}

/// In CI everything must have been tested that the kernel of the host can do.
fn judged(passed: bool, ci: bool, note: String, not_run: &NotRun) -> Outcome {
    let all = not_run.all();
    if !passed {
        Outcome::Failed(note)
    } else if ci && !not_run.missing.is_empty() {
        Outcome::Failed(format!(
            "{note}; not tested: {}",
            not_run.missing.join("; ")
        ))
    } else if all.is_empty() {
        Outcome::Passed(note)
    } else {
        Outcome::Partly(note, all)
    }
}

/// The line with which a test runner says how many tests ran.
fn is_summary(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Summary [") || line.starts_with("test result:")
}

/// Every example in the documentation runs.
pub(crate) fn doctests(context: &Context) -> anyhow::Result<Outcome> {
    context
        .cargo_locked("test")
        .args(["--doc", "--workspace", "--all-features"])
        .run()?;
    Ok(Outcome::Passed(String::new()))
}

/// The documentation builds without a warning.
///
/// The command and the facade share a name and so a folder; the facade's pages come last and stay.
pub(crate) fn docs(context: &Context) -> anyhow::Result<Outcome> {
    let document = |packages: [&str; 3]| {
        context
            .cargo_locked("doc")
            .args(packages)
            .args(["--no-deps", "--all-features"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .run()
    };
    document(["--bins", "--package", "everruns-cli"])?;
    document(["--workspace", "--exclude", "everruns-cli"])?;
    Ok(Outcome::Passed(String::new()))
}

#[cfg(test)]
mod tests {
    use super::{NotRun, Outcome, is_summary, judged};

    #[test]
    fn what_was_not_tested_fails_in_ci_alone() {
        let of = |passed, ci, missing: &[&str], impossible: &[&str]| {
            let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            let (missing, impossible) = (owned(missing), owned(impossible));
            let not_run = NotRun {
                missing,
                impossible,
            };
            judged(passed, ci, "4 passed".to_owned(), &not_run)
        };
        let server = ["no PostgreSQL (2 tests)"];
        let disk = ["no such disk (1 test)"];
        assert!(matches!(of(true, true, &[], &[]), Outcome::Passed(_)));
        assert!(
            matches!(of(true, false, &server, &[]), Outcome::Partly(_, told) if told == server)
        );
        assert!(matches!(of(true, true, &[], &disk), Outcome::Partly(_, told) if told == disk));
        let failed = of(true, true, &server, &disk);
        assert!(matches!(failed, Outcome::Failed(note) if note.contains("no PostgreSQL")));
        assert!(matches!(of(false, false, &server, &[]), Outcome::Failed(_)));
    }

    #[test]
    fn summary_lines_of_both_runners_are_known() {
        assert!(is_summary(
            "     Summary [   0.012s] 4 tests run: 4 passed, 0 skipped\n"
        ));
        assert!(is_summary(
            "test result: ok. 4 passed; 0 failed; 0 ignored\n"
        ));
        assert!(!is_summary(
            "        PASS [   0.005s] xtask layers::tests::x\n"
        ));
    }
}
