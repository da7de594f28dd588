//! How the demonstration speaks.

use crate::failure::Failure;
use crate::output::{line, shown_lines};

/// The heading of a step.
pub(super) fn step(text: &str) -> Result<(), Failure> {
    line(&format!("\n== {text}"))
}

/// What was just seen to be so, indented.
pub(super) fn said(text: &str) -> Result<(), Failure> {
    let shown = shown_lines(text.trim_end());
    let indented: Vec<String> = shown.lines().map(|line| format!("   {line}")).collect();
    line(&indented.join("\n"))
}

/// Fails the demonstration unless `holds`.
pub(super) fn must(holds: bool, what: &str) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "the demonstration found that this does not hold: {what}"
        )))
    }
}
