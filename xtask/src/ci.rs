//! `cargo xtask ci`: all steps one after the other, a table of them, and one last line.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum as _};

use crate::context::Context;
use crate::step::{Outcome, StepName};

/// Which steps to run.
#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// Run only these steps.
    #[arg(long, value_name = "STEP", num_args = 1.., value_delimiter = ',')]
    only: Vec<StepName>,
    /// Run all but these steps.
    #[arg(long, value_name = "STEP", num_args = 1.., value_delimiter = ',')]
    skip: Vec<StepName>,
}

impl Arguments {
    /// Why a step is left out on request, if it is.
    fn left_out(&self, step: StepName) -> Option<&'static str> {
        if self.skip.contains(&step) {
            Some("left out by --skip")
        } else if !self.only.is_empty() && !self.only.contains(&step) {
            Some("left out by --only")
        } else {
            None
        }
    }
}

/// A step that was looked at, how it ended and how long it took.
struct Finished {
    step: StepName,
    outcome: Outcome,
    took: Duration,
}

/// Runs the chosen steps; a failed one does not stop the others. True when none failed.
pub(crate) fn run(context: &Context, arguments: &Arguments) -> bool {
    let started = Instant::now();
    let mut finished = Vec::new();
    let mut left_out = Vec::new();
    for &step in StepName::value_variants() {
        match arguments.left_out(step) {
            Some(reason) => left_out.push((step, reason)),
            None => finished.push(run_step(context, step)),
        }
    }
    println!("\n==== summary ====");
    for one in &finished {
        println!("{}", row(one));
    }
    let failed: Vec<&str> = finished
        .iter()
        .filter(|one| matches!(one.outcome, Outcome::Failed(_)))
        .map(|one| one.step.name())
        .collect();
    println!(
        "{}",
        last_line(&finished, &left_out, &failed, started.elapsed())
    );
    failed.is_empty()
}

/// Runs one step by itself. True when it holds.
pub(crate) fn run_one(context: &Context, step: StepName) -> bool {
    run(
        context,
        &Arguments {
            only: vec![step],
            skip: Vec::new(),
        },
    )
}

fn run_step(context: &Context, step: StepName) -> Finished {
    println!("\n==== {} ====", step.name());
    let started = Instant::now();
    let outcome = step
        .run(context)
        .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
    let one = Finished {
        step,
        outcome,
        took: started.elapsed(),
    };
    println!("{}", row(&one));
    one
}

fn row(one: &Finished) -> String {
    let (verdict, note) = match &one.outcome {
        Outcome::Passed(note) => ("ok", note),
        Outcome::Partly(note, _) => ("PARTLY", note),
        Outcome::Failed(note) => ("FAILED", note),
        Outcome::NotRun(note) => ("NOT RUN", note),
    };
    format!(
        "{:<10} {verdict:<8} {:>7.1} s  {note}",
        one.step.name(),
        one.took.as_secs_f64()
    )
}

/// The line that says what ran, what failed and what did not run.
fn last_line(
    finished: &[Finished],
    left_out: &[(StepName, &str)],
    failed: &[&str],
    took: Duration,
) -> String {
    let mut ran = Vec::new();
    let mut not_run = Vec::new();
    let mut not_tested: Vec<&str> = Vec::new();
    for one in finished {
        match &one.outcome {
            Outcome::NotRun(reason) => not_run.push(format!("{} ({reason})", one.step.name())),
            Outcome::Partly(_, reasons) => {
                ran.push(one.step.name());
                not_tested.extend(reasons.iter().map(String::as_str));
            }
            Outcome::Passed(_) | Outcome::Failed(_) => ran.push(one.step.name()),
        }
    }
    let steps = if ran.len() == 1 { "step" } else { "steps" };
    let mut line = format!(
        "xtask ci: {} {steps} ran in {} s",
        ran.len(),
        took.as_secs()
    );
    if !ran.is_empty() {
        line.push_str(": ");
        line.push_str(&ran.join(", "));
    }
    if !not_tested.is_empty() {
        line.push_str("; not tested on this host: ");
        line.push_str(&not_tested.join(", "));
    }
    if !not_run.is_empty() {
        line.push_str("; not run: ");
        line.push_str(&not_run.join(", "));
    }
    for option in ["left out by --only", "left out by --skip"] {
        let steps: Vec<&str> = left_out
            .iter()
            .filter(|(_, reason)| *reason == option)
            .map(|(step, _)| step.name())
            .collect();
        if !steps.is_empty() {
            line.extend(["; ", option, ": ", &steps.join(", ")]);
        }
    }
    if !failed.is_empty() {
        line.push_str("; FAILED: ");
        line.push_str(&failed.join(", "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(step: StepName, outcome: Outcome) -> Finished {
        Finished {
            step,
            outcome,
            took: Duration::from_millis(1500),
        }
    }

    #[test]
    fn last_line_names_what_ran_what_did_not_and_what_failed() {
        let steps = [
            finished(StepName::Fmt, Outcome::Passed(String::new())),
            finished(StepName::Clippy, Outcome::Failed("2 problems".to_owned())),
            finished(
                StepName::Deny,
                Outcome::NotRun("cargo-deny is not installed".to_owned()),
            ),
        ];
        let left_out = [(StepName::Docs, "left out by --skip")];
        assert_eq!(
            last_line(&steps, &left_out, &["clippy"], Duration::from_secs(412)),
            "xtask ci: 2 steps ran in 412 s: fmt, clippy; not run: deny (cargo-deny is not \
             installed); left out by --skip: docs; FAILED: clippy"
        );
    }

    #[test]
    fn last_line_tells_what_passing_tests_could_not_do() {
        let reasons = vec!["no PostgreSQL (31 tests)".to_owned()];
        let steps = [finished(
            StepName::Tests,
            Outcome::Partly("1,026 passed".to_owned(), reasons),
        )];
        assert_eq!(
            last_line(&steps, &[], &[], Duration::from_secs(9)),
            "xtask ci: 1 step ran in 9 s: tests; not tested on this host: no PostgreSQL (31 tests)"
        );
        assert!(row(&steps[0]).contains("PARTLY"));
    }

    #[test]
    fn only_and_skip_choose() {
        let arguments = Arguments {
            only: vec![StepName::Fmt, StepName::Docs],
            skip: vec![StepName::Docs],
        };
        assert_eq!(arguments.left_out(StepName::Fmt), None);
        assert_eq!(
            arguments.left_out(StepName::Docs),
            Some("left out by --skip")
        );
        assert_eq!(
            arguments.left_out(StepName::Deny),
            Some("left out by --only")
        );
    }
}
