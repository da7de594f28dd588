//! Times of one operation, repeated.

use std::time::Duration;

/// What one operation took, each time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    fn sorted(&self) -> Vec<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted
    }

    /// The middle value.
    pub(crate) fn median(&self) -> Duration {
        let sorted = self.sorted();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    /// How many times the median of `theirs` the median is.
    pub(crate) fn ratio(&self, theirs: &Self) -> f64 {
        self.median().as_secs_f64() / theirs.median().as_secs_f64()
    }

    /// Half the distance between the quartiles.
    pub(crate) fn spread(&self) -> Duration {
        let sorted = self.sorted();
        let at = |part: usize| {
            sorted
                .get(sorted.len() * part / 4)
                .copied()
                .unwrap_or_default()
        };
        at(3).saturating_sub(at(1)) / 2
    }
}
