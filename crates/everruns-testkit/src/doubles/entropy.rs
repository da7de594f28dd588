use std::sync::atomic::{AtomicU64, Ordering};

use everruns_core::entropy::Entropy;

/// The step of the `SplitMix64` generator: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Random bytes that are the same in every run with the same seed.
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

impl SeededEntropy {
    /// Bytes that follow from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }

    /// The next 64 bits.
    pub fn next_u64(&self) -> u64 {
        let mut z = self
            .state
            .fetch_add(STEP, Ordering::SeqCst)
            .wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use everruns_core::ids::SessionId;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_ids_and_never_one_twice() {
        let ids = |seed| {
            let entropy = SeededEntropy::new(seed);
            [(); 3].map(|()| SessionId::generate(&entropy))
        };
        assert_eq!(ids(7), ids(7));
        assert_ne!(ids(7), ids(8));
        assert_ne!(ids(7)[0], ids(7)[1]);
    }
}
