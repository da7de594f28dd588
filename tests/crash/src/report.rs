use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What the rounds came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many rounds there were.
    pub rounds: u64,
    /// Children killed at a named step, by step.
    pub at_steps: BTreeMap<&'static str, u64>,
    /// Children killed at a random moment.
    pub at_random: u64,
    /// Children that had finished before.
    pub finished: u64,
    /// Events that a child had seen acknowledged, all found again.
    pub acknowledged: u64,
    /// Sessions resumed after a kill, which then finished a turn.
    pub resumed: u64,
    /// Calls whose outcome was recorded as unknown.
    pub unknown: u64,
    /// How long it took.
    pub took: Duration,
}

impl Report {
    /// Adds another.
    pub fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        for (step, count) in other.at_steps {
            *self.at_steps.entry(step).or_default() += count;
        }
        self.at_random += other.at_random;
        self.finished += other.finished;
        self.acknowledged += other.acknowledged;
        self.resumed += other.resumed;
        self.unknown += other.unknown;
        self.took += other.took;
    }

    /// Children killed at a named step.
    pub fn killed_at_steps(&self) -> u64 {
        self.at_steps.values().sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} rounds in {:.0} s, all as they should be: {} killed at {} named steps, {} at a random moment, {} finished \
             before",
            self.rounds,
            self.took.as_secs_f64(),
            self.killed_at_steps(),
            self.at_steps.len(),
            self.at_random,
            self.finished
        )?;
        writeln!(
            f,
            "{} acknowledged events found again, {} sessions resumed and finished, {} calls of unknown outcome",
            self.acknowledged, self.resumed, self.unknown
        )?;
        for (step, count) in &self.at_steps {
            writeln!(f, "{count:6} {step}")?;
        }
        Ok(())
    }
}
