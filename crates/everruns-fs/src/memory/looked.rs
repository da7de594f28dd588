#[cfg(test)]
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something has been looked at, which tests of costs ask; outside tests it is nothing. A copy begins anew.
#[derive(Debug, Default)]
pub(super) struct Looked {
    #[cfg(test)]
    at: AtomicBool,
}

impl Looked {
    #[cfg_attr(
        not(test),
        expect(clippy::unused_self, reason = "there is nothing to note it in")
    )]
    pub(super) fn note(&self) {
        #[cfg(test)]
        self.at.store(true, Ordering::Relaxed);
    }

    /// Tells, and forgets it.
    #[cfg(test)]
    pub(super) fn take(&self) -> bool {
        self.at.swap(false, Ordering::Relaxed)
    }
}

impl Clone for Looked {
    fn clone(&self) -> Self {
        Self::default()
    }
}
