//! What an operation may cost.

use std::fmt;
use std::time::Duration;

use crate::measure::Samples;

/// How fast an operation is meant to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    /// At least this part of the alternative's speed.
    Speed(f64),
    /// At most so many times the alternative's time.
    Ratio(f64),
    /// Less than this.
    Time(Duration),
}

impl Bar {
    /// The bar and whether the medians keep it, for the table. Without an alternative only a [`Time`](Self::Time) can be
    /// kept.
    pub(crate) fn judged(self, ours: &Samples, theirs: Option<&Samples>) -> [String; 2] {
        let ratio = theirs.map(|theirs| ours.ratio(theirs));
        let is_met = match self {
            Self::Speed(part) => ratio.is_some_and(|ratio| ratio * part <= 1.0),
            Self::Ratio(most) => ratio.is_some_and(|ratio| ratio <= most),
            Self::Time(most) => ours.median() < most,
        };
        [self.to_string(), verdict(is_met).to_owned()]
    }
}

/// How the table says whether a bar is met.
pub(crate) fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speed(part) => write!(f, "ratio ≤ {:.2} ({part} × the speed)", 1.0 / part),
            Self::Ratio(most) => write!(f, "ratio ≤ {most:.2}"),
            Self::Time(most) => write!(f, "< {most:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taking(micros: u64) -> Samples {
        let mut samples = Samples::default();
        samples.push(Duration::from_micros(micros));
        samples
    }

    fn verdict(bar: Bar, ours: u64, theirs: u64) -> String {
        let [_, verdict] = bar.judged(&taking(ours), Some(&taking(theirs)));
        verdict
    }

    #[test]
    fn a_bar_is_met_up_to_its_figure() {
        assert_eq!(verdict(Bar::Speed(0.5), 200, 100), "met");
        assert_eq!(verdict(Bar::Speed(0.5), 201, 100), "missed");
        assert_eq!(verdict(Bar::Ratio(1.2), 120, 100), "met");
        assert_eq!(verdict(Bar::Ratio(1.2), 121, 100), "missed");
        let two = Bar::Time(Duration::from_micros(2));
        assert_eq!(two.judged(&taking(1), None), ["< 2µs", "met"]);
        assert_eq!(two.judged(&taking(2), None), ["< 2µs", "missed"]);
        let [shown, alone] = Bar::Speed(0.8).judged(&taking(1), None);
        assert_eq!(
            (shown.as_str(), alone.as_str()),
            ("ratio ≤ 1.25 (0.8 × the speed)", "missed")
        );
    }
}
