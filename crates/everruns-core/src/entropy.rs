//! Randomness as an argument, so that tests are deterministic.

use std::fmt;

/// Gives random bytes.
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills `bytes`. The bytes need not be secret, but two fills must not repeat one another.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// When the operating system has no random source; nothing can be named safely without one.
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("every supported system has a random source");
    }
}
