use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use everruns_core::clock::{Clock, Timestamp};

/// A clock that stands still until it is set.
#[derive(Debug, Default)]
pub(crate) struct SetClock {
    millis: AtomicI64,
}

impl SetClock {
    /// Sets it to so long after the epoch.
    pub(crate) fn set(&self, since_epoch: Duration) {
        let millis = i64::try_from(since_epoch.as_millis()).unwrap();
        self.millis.store(millis, Ordering::SeqCst);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }
}
