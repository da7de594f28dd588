//! Named steps at which a test may stop, fail or kill the process.
//!
//! Every multi-step operation calls [`hit`] between two steps. Without the `failpoints` feature the call
//! is empty and compiles to nothing; with it, a test arms a step with an action.

#[cfg(feature = "failpoints")]
pub use armed::{arm, disarm_all, reached};

/// An armed step told the operation to fail here.
#[derive(Debug, Clone, thiserror::Error)]
#[error("failpoint `{name}` was told to fail")]
pub struct FailpointError {
    /// The step's name.
    pub name: &'static str,
}

/// Reports that the step `name` is reached.
///
/// # Errors
/// Only when a test armed this step with an action that fails.
#[inline]
pub fn hit(name: &'static str) -> Result<(), FailpointError> {
    #[cfg(feature = "failpoints")]
    return armed::run(name);
    #[cfg(not(feature = "failpoints"))]
    {
        let _ = name;
        Ok(())
    }
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Arc, Mutex, PoisonError};

    use super::FailpointError;

    type Action = Arc<dyn Fn() -> bool + Send + Sync>;

    #[derive(Default)]
    struct Registry {
        actions: BTreeMap<String, Action>,
        reached: BTreeSet<&'static str>,
    }

    static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
        actions: BTreeMap::new(),
        reached: BTreeSet::new(),
    });

    /// Runs `action` whenever the step `name` is reached; `true` lets the operation go on, `false` fails it.
    ///
    /// The registry is the process's, so a test that arms steps runs in a process of its own.
    pub fn arm(name: impl Into<String>, action: impl Fn() -> bool + Send + Sync + 'static) {
        let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        registry.actions.insert(name.into(), Arc::new(action));
    }

    /// Forgets every armed step.
    pub fn disarm_all() {
        REGISTRY
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .actions
            .clear();
    }

    /// The names of all steps reached so far in this process.
    pub fn reached() -> Vec<&'static str> {
        REGISTRY
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .reached
            .iter()
            .copied()
            .collect()
    }

    pub(super) fn run(name: &'static str) -> Result<(), FailpointError> {
        let action = {
            let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
            registry.reached.insert(name);
            registry.actions.get(name).map(Arc::clone)
        };
        match action {
            Some(action) if !action() => Err(FailpointError { name }),
            _ => Ok(()),
        }
    }
}
