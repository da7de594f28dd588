use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use everruns_core::environment::Environment;
use everruns_core::ids::SessionId;
use tokio::sync::OnceCell;

use super::{Active, Journal};
use crate::agent::Agent;
use crate::engine::EngineParts;

/// What all handles of one session share.
#[derive(Debug)]
pub(crate) struct SessionCore {
    pub(crate) id: SessionId,
    pub(crate) engine: Arc<EngineParts>,
    pub(crate) journal: Arc<Journal>,
    /// Set once, when the session has started or was resumed.
    pub(crate) active: OnceCell<Arc<Active>>,
    draft: Mutex<Draft>,
    /// Made by this engine, so that nothing of it is recorded before it starts.
    new: bool,
}

/// What is chosen before the session starts.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) agent: Agent,
    pub(crate) environment: Option<Environment>,
    pub(crate) title: Option<String>,
}

impl SessionCore {
    /// A session that is recorded nowhere yet.
    pub(crate) fn new(id: SessionId, engine: Arc<EngineParts>, agent: Agent) -> Self {
        let mut core = Self::recorded(id, engine, agent);
        core.new = true;
        core
    }

    /// A session that the store knows.
    pub(crate) fn recorded(id: SessionId, engine: Arc<EngineParts>, agent: Agent) -> Self {
        let journal = Arc::new(Journal::new(id.clone(), engine.services.clone()));
        Self {
            id,
            engine,
            journal,
            active: OnceCell::new(),
            draft: Mutex::new(Draft {
                agent,
                environment: None,
                title: None,
            }),
            new: false,
        }
    }

    pub(crate) fn draft(&self) -> MutexGuard<'_, Draft> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SessionCore {
    fn drop(&mut self) {
        if self.new && self.active.get().is_none() {
            self.engine.forget_unstarted(&self.id);
        }
    }
}
