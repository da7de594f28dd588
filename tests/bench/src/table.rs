//! The results, a row an operation.

use std::io::Write as _;
use std::time::Duration;

use anyhow::ensure;

use crate::bar::{Bar, verdict};
use crate::measure::Samples;

/// All rows so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 7]>,
    /// Rows that must keep their bar and do not.
    missed: Vec<String>,
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
        let judged = bar.judged(ours, theirs);
        self.add_pair(operation, ours, (alternative, theirs), judged);
    }

    /// As [`pair_with_bar`](Self::pair_with_bar), where the run fails when the bar is missed.
    pub(crate) fn pair_within(
        &mut self,
        operation: String,
        ours: &Samples,
        alternative: &str,
        theirs: &Samples,
        bar: Bar,
    ) {
        let judged = bar.judged(ours, theirs);
        self.judge(&operation, &judged);
        self.add_pair(operation, ours, (alternative, theirs), judged);
    }

    /// A figure that is no time, where the run fails when it does not keep its bar.
    pub(crate) fn figure_within(&mut self, what: String, figure: String, bar: &str, is_met: bool) {
        let judged = [bar.to_owned(), verdict(is_met).to_owned()];
        self.judge(&what, &judged);
        let [bar, verdict] = judged;
        self.rows
            .push([what, figure, dash(), dash(), dash(), bar, verdict]);
    }

    fn judge(&mut self, what: &str, [bar, judged]: &[String; 2]) {
        if judged != verdict(true) {
            self.missed.push(format!("{what}: {bar}"));
        }
    }

    /// Fails when a row must keep its bar and does not.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        ensure!(self.missed.is_empty(), "missed: {:#?}", self.missed);
        Ok(())
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

/// A time in the unit that suits it.
pub(crate) fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1.0 {
        format!("{} ns", time.as_nanos())
    } else if micros < 1_000.0 {
        format!("{micros:.1} µs")
    } else if micros < 1_000_000.0 {
        format!("{:.1} ms", micros / 1e3)
    } else {
        format!("{:.2} s", micros / 1e6)
    }
}
