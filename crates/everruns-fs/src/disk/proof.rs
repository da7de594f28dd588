use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::Stat;

/// How long a proof is good for.
const GOOD_FOR: Duration = Duration::from_millis(1);

/// Stands for no proof.
const NEVER: u64 = u64::MAX;

/// When the path of a top folder was last seen to lead to it.
///
/// Proving it means to go along a long path once more, which takes a third of the time that a look at a cached entry
/// does. What is kept is of use only while the folder itself is as it was then: whoever moves or removes it changes
/// the time of its last change. Many kernels take that time from a clock that ticks every few milliseconds, so that a move
/// in the tick of the change before is not seen by it, but by the next proof.
#[derive(Debug)]
pub(super) struct Proof {
    begun: Instant,
    /// In nanoseconds since `begun`, taken before the path was gone along.
    at: AtomicU64,
    /// When the folder itself had last changed then, in nanoseconds.
    changed: AtomicI64,
}

/// What a proof that is about to be made would say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    at: u64,
    changed: i64,
    is_linked: bool,
}

impl Proof {
    pub(super) fn none() -> Self {
        Self {
            begun: Instant::now(),
            at: AtomicU64::new(NEVER),
            changed: AtomicI64::new(0),
        }
    }

    /// For a folder of which the kernel now says `stat`.
    pub(super) fn now(&self, stat: &Stat) -> Now {
        let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
        Now {
            at: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(NEVER),
            changed: stat
                .st_ctime
                .saturating_mul(1_000_000_000)
                .saturating_add(nanos),
            is_linked: stat.st_nlink > 0,
        }
    }

    pub(super) fn is_good(&self, now: Now) -> bool {
        let at = self.at.load(Ordering::Acquire);
        let age = now.at.checked_sub(at).map(Duration::from_nanos);
        now.is_linked
            && at != NEVER
            && age.is_none_or(|age| age < GOOD_FOR)
            && self.changed.load(Ordering::Acquire) == now.changed
    }

    pub(super) fn keep(&self, now: Now) {
        self.changed.store(now.changed, Ordering::Release);
        self.at.store(now.at, Ordering::Release);
    }

    pub(super) fn forget(&self) {
        self.at.store(NEVER, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(at: u64, changed: i64) -> Now {
        Now {
            at,
            changed,
            is_linked: true,
        }
    }

    #[test]
    fn h08_a_proof_is_good_for_a_moment_and_for_the_same_folder() {
        let proof = Proof::none();
        assert!(!proof.is_good(now(0, 7)));
        proof.keep(now(5_000_000, 7));
        // A call that began before another one kept its proof finds a newer one than it could make.
        assert!(proof.is_good(now(4_999_999, 7)));
        assert!(proof.is_good(now(5_999_999, 7)));
        assert!(!proof.is_good(now(6_000_000, 7)));
        assert!(!proof.is_good(now(5_000_001, 8)));
        let removed = Now {
            is_linked: false,
            ..now(5_000_001, 7)
        };
        assert!(!proof.is_good(removed));
        proof.forget();
        assert!(!proof.is_good(now(5_000_001, 7)));
    }
}
