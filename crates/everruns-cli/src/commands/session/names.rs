//! The names of the heads that sessions are on, as far as they are known here.

use std::collections::{HashMap, HashSet};

use everruns::session::SessionRecord;
use everruns::{WorkspaceHeadId, WorkspaceId};

use crate::output::shown;
use crate::repository;
use crate::state::StateFolder;

/// Names of heads by their ids. A head that is not known here is called by its id.
pub(super) struct HeadNames<'a> {
    state: &'a StateFolder,
    names: HashMap<WorkspaceHeadId, String>,
}

impl<'a> HeadNames<'a> {
    pub(super) fn new(state: &'a StateFolder) -> Self {
        Self {
            state,
            names: HashMap::new(),
        }
    }

    /// Reads the names of the heads in these sessions' workspaces, once a workspace. What cannot be read is left out:
    /// a repository that is gone is no reason not to list the sessions on it.
    pub(super) async fn learn(&mut self, sessions: &[SessionRecord]) {
        let workspaces: HashSet<&WorkspaceId> = sessions
            .iter()
            .filter_map(|record| record.binding.as_ref())
            .map(|binding| &binding.workspace_id)
            .collect();
        if workspaces.is_empty() {
            return;
        }
        let Ok(backend) = repository::backend(self.state).await else {
            return;
        };
        for workspace in workspaces {
            if let Ok(heads) = backend.heads(workspace).await {
                let named = heads
                    .into_iter()
                    .map(|head| (head.id, shown(head.name.as_str())));
                self.names.extend(named);
            }
        }
    }

    /// The name of a session's head.
    pub(super) fn of(&self, record: &SessionRecord) -> Option<&str> {
        let binding = record.binding.as_ref()?;
        self.names.get(&binding.head_id).map(String::as_str)
    }
}
