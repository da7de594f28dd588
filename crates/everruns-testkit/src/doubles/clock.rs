use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use everruns_core::clock::{Clock, Timestamp};

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock {
    millis: AtomicI64,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub const fn at(now: Timestamp) -> Self {
        Self {
            millis: AtomicI64::new(now.as_millis()),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        self.set(self.now().plus(duration));
    }

    /// Sets the clock, backwards too.
    pub fn set(&self, now: Timestamp) {
        self.millis.store(now.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_only_when_told() {
        let clock = ManualClock::at(Timestamp::from_millis(5));
        assert_eq!(clock.now(), clock.now());
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.now(), Timestamp::from_millis(1_005));
        clock.set(Timestamp::from_millis(1));
        assert_eq!(clock.now(), Timestamp::from_millis(1));
    }
}
