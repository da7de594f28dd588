use std::time::Duration;

/// How long a store waits for others, and how often it tries a change again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often a change is tried at most; 0 counts as 1.
    pub attempts: u32,
    /// How long one attempt waits for a lock that others hold.
    pub lock_wait: Duration,
    /// The pause after the first attempt; it doubles with each further one.
    pub pause: Duration,
    /// How long PostgreSQL's server and this process wait for each other in the middle of a change. A connection whose
    /// server does not answer an append or a lease for so long counts as lost; and the server ends a transaction whose
    /// process has been silent for so long, because it was stopped or its host has gone, so that others get the session.
    pub silence: Duration,
}

impl Default for RetryPolicy {
    /// 5 attempts, each waiting up to 2 seconds, with pauses of 10, 20, 40 and 80 milliseconds between them; 20 seconds of
    /// silence.
    fn default() -> Self {
        Self {
            attempts: 5,
            lock_wait: Duration::from_secs(2),
            pause: Duration::from_millis(10),
            silence: Duration::from_secs(20),
        }
    }
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl RetryPolicy {
    /// The pause after the attempt with this number, counted from 1.
    pub(crate) fn pause_after(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(10);
        self.pause.saturating_mul(1 << doublings)
    }
}

#[cfg(all(test, any(feature = "sqlite", feature = "postgres")))]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_bounded() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.pause_after(1), Duration::from_millis(10));
        assert_eq!(policy.pause_after(3), Duration::from_millis(40));
        assert_eq!(policy.pause_after(u32::MAX), policy.pause_after(11));
    }
}
