//! The steps of `cargo xtask ci`, in the order in which they run.

use clap::ValueEnum;

use crate::context::Context;
use crate::{cargo_steps, claims, consumer, deny, features, layers, readme, snapshots, style};

/// The name of a step, as `--only` and `--skip` take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StepName {
    Fmt,
    Layers,
    Claims,
    Style,
    Clippy,
    Features,
    Tests,
    Doctests,
    Docs,
    Consumer,
    Readme,
    Deny,
    Snapshots,
}

/// How a step ended. An error counts as [`Outcome::Failed`].
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It holds; the note says what was looked at.
    Passed(String),
    /// It holds as far as it could be looked at; the note says what was, the reasons what could not be on this host.
    Partly(String, Vec<String>),
    /// It does not hold; everything that is wrong was already printed.
    Failed(String),
    /// It could not be looked at, for this reason.
    NotRun(String),
}

impl Outcome {
    /// Prints each problem and fails, or passes with the note when there is none.
    pub(crate) fn of(problems: &[String], note: impl Into<String>) -> Self {
        for problem in problems {
            println!("  {problem}");
        }
        match problems.len() {
            0 => Self::Passed(note.into()),
            1 => Self::Failed("1 problem".to_owned()),
            several => Self::Failed(format!("{several} problems")),
        }
    }
}

impl StepName {
    /// The name as it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Layers => "layers",
            Self::Claims => "claims",
            Self::Style => "style",
            Self::Clippy => "clippy",
            Self::Features => "features",
            Self::Tests => "tests",
            Self::Doctests => "doctests",
            Self::Docs => "docs",
            Self::Consumer => "consumer",
            Self::Readme => "readme",
            Self::Deny => "deny",
            Self::Snapshots => "snapshots",
        }
    }

    /// Runs the step.
    pub(crate) fn run(self, context: &Context) -> anyhow::Result<Outcome> {
        match self {
            Self::Fmt => cargo_steps::fmt(context),
            Self::Layers => layers::step(context),
            Self::Claims => claims::step(context),
            Self::Style => style::step(context),
            Self::Clippy => cargo_steps::clippy(context),
            Self::Features => features::step(context),
            Self::Tests => cargo_steps::tests(context),
            Self::Doctests => cargo_steps::doctests(context),
            Self::Docs => cargo_steps::docs(context),
            Self::Consumer => consumer::step(context),
            Self::Readme => readme::step(context),
            Self::Deny => deny::step(context),
            Self::Snapshots => snapshots::step(context),
        }
    }
}
