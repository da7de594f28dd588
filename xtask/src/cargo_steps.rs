//! The steps that are one call of cargo on the whole workspace.
//!
//! All of them turn every feature on: the `PostgreSQL` store and the failpoints are code like any
//! other, and one feature set means that the steps share what they build.

use crate::context::Context;
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
    Ok(if passed {
        Outcome::Passed(note)
    } else {
        Outcome::Failed(note)
    })
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
    use super::is_summary;

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
