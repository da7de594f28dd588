use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use everruns_core::ids::{SessionId, WorkspaceBackendId};
use everruns_core::workspace::WorkspaceBackend;
use everruns_fs::MemoryWorkspaceBackend;

use crate::agent::Agent;
use crate::session::{Services, SessionCore};

/// What all handles of one engine share.
#[derive(Debug)]
pub(crate) struct EngineParts {
    pub(crate) services: Services,
    /// The backend of heads for sessions that are given none.
    pub(crate) memory: Arc<dyn WorkspaceBackend>,
    known: Mutex<HashMap<SessionId, Known>>,
}

/// What the engine remembers of a session: its agent as it was attached, with the backend of its environment.
#[derive(Debug)]
struct Known {
    agent: Agent,
    backend: Option<Arc<dyn WorkspaceBackend>>,
    live: Weak<SessionCore>,
    /// Held while the session is being resumed, so that this happens once.
    gate: Arc<tokio::sync::Mutex<()>>,
}

impl Known {
    fn new(agent: Agent, live: Weak<SessionCore>) -> Self {
        Self {
            agent,
            backend: None,
            live,
            gate: Arc::default(),
        }
    }
}

impl EngineParts {
    pub(crate) fn new(services: Services) -> Self {
        Self {
            services,
            memory: Arc::new(MemoryWorkspaceBackend::new()),
            known: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn register(&self, core: &Arc<SessionCore>, agent: Agent) {
        let known = Known::new(agent, Arc::downgrade(core));
        self.lock().insert(core.id.clone(), known);
    }

    pub(crate) fn attach(&self, session: &SessionId, agent: Agent) {
        let mut all = self.lock();
        match all.get_mut(session) {
            Some(known) => {
                if !known.agent.is_same(&agent) {
                    known.agent = agent;
                    known.backend = None;
                }
            }
            None => {
                all.insert(session.clone(), Known::new(agent, Weak::new()));
            }
        }
    }

    /// Remembers the backend of a live environment with the session's agent.
    pub(crate) fn remember(&self, session: &SessionId, backend: &Arc<dyn WorkspaceBackend>) {
        if let Some(known) = self.lock().get_mut(session) {
            known.backend = Some(Arc::clone(backend));
        }
    }

    /// Forgets a session that never started: nothing of it is recorded anywhere.
    pub(crate) fn forget_unstarted(&self, session: &SessionId) {
        let mut all = self.lock();
        let gone = all
            .get(session)
            .is_some_and(|known| known.backend.is_none() && known.live.strong_count() == 0);
        if gone {
            all.remove(session);
        }
    }

    pub(crate) fn live(&self, session: &SessionId) -> Option<Arc<SessionCore>> {
        let core = self.lock().get(session)?.live.upgrade()?;
        core.active.initialized().then_some(core)
    }

    pub(crate) fn set_live(&self, core: &Arc<SessionCore>) {
        if let Some(known) = self.lock().get_mut(&core.id) {
            known.live = Arc::downgrade(core);
        }
    }

    pub(crate) fn agent(&self, session: &SessionId) -> Option<Agent> {
        Some(self.lock().get(session)?.agent.clone())
    }

    pub(crate) fn gate(&self, session: &SessionId) -> Option<Arc<tokio::sync::Mutex<()>>> {
        Some(Arc::clone(&self.lock().get(session)?.gate))
    }

    /// The backend of this id as a session may use it: the one of its environment, else one that its agent has
    /// registered, else the engine's own.
    pub(crate) fn backend(
        &self,
        session: &SessionId,
        agent: &Agent,
        id: &WorkspaceBackendId,
    ) -> Option<Arc<dyn WorkspaceBackend>> {
        let remembered = self
            .lock()
            .get(session)
            .and_then(|known| known.backend.clone());
        let own = std::iter::once(&self.memory);
        let registered = agent.parts().backends.get(id).into_iter();
        remembered
            .iter()
            .chain(registered)
            .chain(own)
            .find(|backend| backend.id() == id)
            .map(Arc::clone)
    }
}
