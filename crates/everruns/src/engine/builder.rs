use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::Clock;
use everruns_core::entropy::Entropy;
use everruns_core::session::SessionStore;

use super::Engine;

/// An engine about to be made.
#[derive(Debug, Default)]
#[must_use = "nothing is made before `build`"]
pub struct EngineBuilder(everruns_engine::EngineBuilder);

impl EngineBuilder {
    /// Keeps sessions in `store`; in memory when not called.
    pub fn store(self, store: Arc<dyn SessionStore>) -> Self {
        Self(self.0.store(store))
    }

    /// Takes the time of events and leases from `clock`.
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self(self.0.clock(clock))
    }

    /// Takes the randomness of ids and keys from `entropy`.
    pub fn entropy(self, entropy: Arc<dyn Entropy>) -> Self {
        Self(self.0.entropy(entropy))
    }

    /// How long a session stays reserved after its process has died on another host; 15 seconds when not called, at
    /// least 300 milliseconds.
    pub fn lease_duration(self, duration: Duration) -> Self {
        Self(self.0.lease_duration(duration))
    }

    /// Makes the engine.
    pub fn build(self) -> Engine {
        self.0.build().into()
    }
}
