//! What an operation may cost.

use std::fmt;

use crate::measure::Samples;

/// How fast an operation is meant to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    /// At least this part of the alternative's speed.
    Speed(f64),
    /// At most so many times the alternative's time.
    Ratio(f64),
}

impl Bar {
    /// The bar and whether the medians keep it, for the table.
    pub(crate) fn judged(self, ours: &Samples, theirs: &Samples) -> [String; 2] {
        let ratio = ours.ratio(theirs);
        let is_met = match self {
            Self::Speed(part) => ratio * part <= 1.0,
            Self::Ratio(most) => ratio <= most,
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
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn taking(micros: u64) -> Samples {
        let mut samples = Samples::default();
        samples.push(Duration::from_micros(micros));
        samples
    }

    fn verdict(bar: Bar, ours: u64, theirs: u64) -> String {
        let [_, verdict] = bar.judged(&taking(ours), &taking(theirs));
        verdict
    }

    #[test]
    fn a_bar_is_met_up_to_its_figure() {
        assert_eq!(verdict(Bar::Speed(0.5), 200, 100), "met");
        assert_eq!(verdict(Bar::Speed(0.5), 201, 100), "missed");
        assert_eq!(verdict(Bar::Ratio(1.2), 120, 100), "met");
        assert_eq!(verdict(Bar::Ratio(1.2), 121, 100), "missed");
        let shown = Bar::Speed(0.8).to_string();
        assert_eq!(shown, "ratio ≤ 1.25 (0.8 × the speed)");
    }
}
