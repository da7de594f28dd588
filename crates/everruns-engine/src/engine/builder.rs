use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::{Clock, SystemClock};
use everruns_core::entropy::{Entropy, SystemEntropy};
use everruns_core::session::SessionStore;

use super::{Engine, EngineParts};
use crate::session::Services;
use crate::store::InMemorySessionStore;

/// How long a lease runs unless it is renewed, which happens three times as often.
const LEASE_DURATION: Duration = Duration::from_secs(15);
/// Shorter leases would be lost by a slow disk alone.
const SHORTEST_LEASE: Duration = Duration::from_millis(300);

/// An engine about to be made.
#[derive(Debug)]
#[must_use = "nothing is made before `build`"]
pub struct EngineBuilder {
    store: Option<Arc<dyn SessionStore>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    lease_duration: Duration,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            store: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            lease_duration: LEASE_DURATION,
        }
    }
}

impl EngineBuilder {
    /// Keeps sessions in `store`; in memory when not called.
    pub fn store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Takes the time of events and leases from `clock`.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Takes the randomness of ids and keys from `entropy`.
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = entropy;
        self
    }

    /// How long a session stays reserved after its process has died on another host; 15 seconds when not called, at
    /// least 300 milliseconds.
    pub fn lease_duration(mut self, duration: Duration) -> Self {
        self.lease_duration = duration.max(SHORTEST_LEASE);
        self
    }

    /// Makes the engine.
    pub fn build(self) -> Engine {
        let store = self
            .store
            .unwrap_or_else(|| Arc::new(InMemorySessionStore::new()));
        Engine::from_parts(EngineParts::new(Services {
            store,
            clock: self.clock,
            entropy: self.entropy,
            lease_duration: self.lease_duration,
        }))
    }
}
