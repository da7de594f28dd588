//! The results, a row an operation.

use std::io::Write as _;
use std::time::Duration;

use crate::measure::Samples;

/// All rows so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    /// Adds an operation beside its alternative.
    pub(crate) fn pair(
        &mut self,
        operation: String,
        ours: &Samples,
        alternative: &str,
        theirs: &Samples,
    ) {
        let ratio = ours.median().as_secs_f64() / theirs.median().as_secs_f64();
        self.rows.push([
            operation,
            time(ours),
            alternative.to_owned(),
            time(theirs),
            format!("{ratio:.2}"),
        ]);
    }

    /// Adds an operation without an alternative.
    pub(crate) fn single(&mut self, operation: String, ours: &Samples) {
        let dash = || "-".to_owned();
        self.rows
            .push([operation, time(ours), dash(), dash(), dash()]);
    }

    /// Adds a figure that is no time.
    pub(crate) fn note(&mut self, what: String, figure: String) {
        let dash = || "-".to_owned();
        self.rows.push([what, figure, dash(), dash(), dash()]);
    }

    /// Prints everything as a Markdown table.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "| operation | everruns | beside | takes | ratio |\n|---|---|---|---|---|"
        )?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

fn time(samples: &Samples) -> String {
    format!("{} ± {}", shown(samples.median()), shown(samples.spread()))
}

fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 {
        format!("{micros:.1} µs")
    } else if micros < 1_000_000.0 {
        format!("{:.1} ms", micros / 1e3)
    } else {
        format!("{:.2} s", micros / 1e6)
    }
}
