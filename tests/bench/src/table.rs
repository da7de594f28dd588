//! The results, a row an operation.

use std::io::Write as _;
use std::time::Duration;

use crate::bar::Bar;
use crate::measure::Samples;

/// All rows so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 7]>,
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
        self.add_pair(operation, ours, (alternative, theirs), [dash(), dash()]);
    }

    /// Adds an operation beside its alternative, with its bar.
    pub(crate) fn pair_with_bar(
        &mut self,
        operation: String,
        ours: &Samples,
        alternative: &str,
        theirs: &Samples,
        bar: Bar,
    ) {
        let judged = bar.judged(ours, Some(theirs));
        self.add_pair(operation, ours, (alternative, theirs), judged);
    }

    fn add_pair(
        &mut self,
        operation: String,
        ours: &Samples,
        (alternative, theirs): (&str, &Samples),
        [bar, verdict]: [String; 2],
    ) {
        self.rows.push([
            operation,
            time(ours),
            alternative.to_owned(),
            time(theirs),
            format!("{:.2}", ours.ratio(theirs)),
            bar,
            verdict,
        ]);
    }

    /// Adds an operation without an alternative.
    pub(crate) fn single(&mut self, operation: String, ours: &Samples) {
        self.note(operation, time(ours));
    }

    /// Adds an operation without an alternative, with its bar.
    pub(crate) fn single_with_bar(&mut self, operation: String, ours: &Samples, bar: Bar) {
        let [bar, verdict] = bar.judged(ours, None);
        self.rows
            .push([operation, time(ours), dash(), dash(), dash(), bar, verdict]);
    }

    /// Adds a figure that is no time.
    pub(crate) fn note(&mut self, what: String, figure: String) {
        self.rows
            .push([what, figure, dash(), dash(), dash(), dash(), dash()]);
    }

    /// Prints everything as a Markdown table.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "| operation | everruns | beside | takes | ratio | bar | verdict |\n|---|---|---|---|---|---|---|"
        )?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

fn dash() -> String {
    "-".to_owned()
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
