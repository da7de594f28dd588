use std::sync::Arc;

use everruns_core::environment::Environment;
use everruns_core::file_system::SessionFileSystem;
use everruns_fs::{AuditFileSystem, MountedFileSystem, PolicyFileSystem, SeededFileSystem};

use super::journal::{Journal, JournalState};
use super::{OwnChanges, SessionError};
use crate::agent::{Agent, CheckpointPolicy};
use crate::tool_api::SeenFiles;

/// What a session executes on, fixed once it has started.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) agent: Agent,
    pub(crate) environment: Environment,
    pub(crate) files: Arc<dyn SessionFileSystem>,
    pub(crate) seen: Arc<SeenFiles>,
    pub(crate) own_changes: Arc<OwnChanges>,
}

impl Active {
    /// Lets the session's journal know it, so that it can rest when the session does.
    pub(super) fn known_to(self, journal: &Journal) -> Arc<Self> {
        let active = Arc::new(self);
        // Only the first one is what the session executes on; a start that failed afterwards has none.
        drop(journal.active.set(Arc::downgrade(&active)));
        active
    }

    /// Notes under which lease the session goes on.
    pub(super) fn held(&self, state: &JournalState) {
        if let Some(token) = state.token {
            self.own_changes.held_under(token);
        }
    }
}

/// The file stack, while the seeded files can still be planted.
#[derive(Debug)]
pub(super) struct Stack {
    mounted: Arc<MountedFileSystem>,
    seeded: Arc<SeededFileSystem>,
    own_changes: Arc<OwnChanges>,
}

impl Stack {
    /// Builds the one way to the bytes: seeded files over policy over mounts over the head.
    pub(super) fn new(agent: &Agent, environment: &Environment) -> Self {
        let parts = agent.parts();
        let head = environment.workspace_head().file_system();
        let noted = parts.checkpoints == CheckpointPolicy::OwnChanges;
        let own_changes = Arc::new(OwnChanges::new(noted));
        let head: Arc<dyn SessionFileSystem> = if noted {
            Arc::new(AuditFileSystem::new(head, Arc::clone(&own_changes) as _))
        } else {
            head
        };
        let mounted = Arc::new(MountedFileSystem::new(head, parts.roots.clone()));
        let policed = PolicyFileSystem::over_mounts(Arc::clone(&mounted), &parts.policy);
        let seeded = SeededFileSystem::new(Arc::new(policed), parts.seeds.clone())
            .expect("the agent's builder has checked the files")
            .over_mounts(&mounted);
        Self {
            mounted,
            seeded: Arc::new(seeded),
            own_changes,
        }
    }

    /// Puts the agent's files into the head, unless they are there. They are the application's own and not subject
    /// to the policy, which is for the model.
    pub(super) async fn plant(&self) -> Result<(), SessionError> {
        match self.seeded.plant_into(self.mounted.as_ref()).await {
            Ok(_) => Ok(()),
            Err(source) => Err(SessionError::Files {
                step: "put the agent's files into the head",
                source,
            }),
        }
    }

    /// What is changed through the stack, where that is noted.
    pub(super) fn own_changes(&self) -> Arc<OwnChanges> {
        Arc::clone(&self.own_changes)
    }

    /// The whole stack, as tools see it.
    pub(super) fn files(&self) -> Arc<dyn SessionFileSystem> {
        Arc::clone(&self.seeded) as _
    }
}
