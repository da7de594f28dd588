//! How the recorded sessions and the heads that are there fit each other. Nothing is changed.

use std::fmt::Write as _;
use std::sync::Arc;

use everruns::session::{SessionQuery, SessionRecord};
use everruns::{
    SessionId, Workspace, WorkspaceBackend, WorkspaceDescriptor, WorkspaceHead, WorkspaceHeadId,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::shown;
use crate::repository;
use crate::sessions::Sessions;
use crate::state::StateFolder;

/// How many sessions are read at a time.
const PAGE: u32 = 500;

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Fit {
    /// How many sessions are recorded.
    sessions: usize,
    /// Those whose head cannot be used.
    without_head: Vec<WithoutHead>,
    /// Heads that can be used and that no recorded session has.
    unrecorded: Vec<Unrecorded>,
    /// Workspaces that could not be looked at.
    not_opened: Vec<NotOpened>,
}

#[derive(Debug, Serialize)]
struct WithoutHead {
    session: SessionId,
    head: WorkspaceHeadId,
    reason: String,
}

#[derive(Debug, Serialize)]
struct Unrecorded {
    repository: String,
    head: WorkspaceHeadId,
    name: String,
    branch: Option<String>,
}

#[derive(Debug, Serialize)]
struct NotOpened {
    repository: String,
    reason: String,
}

impl Fit {
    pub(crate) async fn of(state: &StateFolder, sessions: &Sessions) -> Result<Self, Failure> {
        let git = repository::git(state).await?;
        let known = git.workspaces().await?;
        let backend: Arc<dyn WorkspaceBackend> = git;
        let mut fit = Self::default();
        let mut query = SessionQuery {
            limit: PAGE,
            ..SessionQuery::default()
        };
        loop {
            let page = sessions.sessions(query.clone()).await?;
            for record in page.sessions {
                fit.session(&backend, record).await;
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        for workspace in known {
            fit.workspace(sessions, &backend, workspace).await?;
        }
        Ok(fit)
    }

    async fn session(&mut self, backend: &Arc<dyn WorkspaceBackend>, record: SessionRecord) {
        self.sessions += 1;
        let Some(binding) = &record.binding else {
            return;
        };
        if let Err(error) = WorkspaceHead::reopen(Arc::clone(backend), binding).await {
            self.without_head.push(WithoutHead {
                session: record.id,
                head: binding.head_id.clone(),
                reason: error.to_string(),
            });
        }
    }

    async fn workspace(
        &mut self,
        sessions: &Sessions,
        backend: &Arc<dyn WorkspaceBackend>,
        known: WorkspaceDescriptor,
    ) -> Result<(), Failure> {
        let workspace = match Workspace::open(Arc::clone(backend), &known.locator).await {
            Ok(workspace) => workspace,
            Err(error) => {
                self.not_opened.push(NotOpened {
                    repository: known.locator,
                    reason: error.to_string(),
                });
                return Ok(());
            }
        };
        let heads = sessions.unrecorded_heads(&workspace).await?;
        self.unrecorded
            .extend(heads.into_iter().map(|head| Unrecorded {
                repository: known.locator.clone(),
                head: head.id,
                name: head.name.as_str().to_owned(),
                branch: head.branch,
            }));
        Ok(())
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "sessions on record: {}; their files are as they are now, newer than the conversation where work went on\n",
            self.sessions
        );
        for lost in &self.without_head {
            let _ = writeln!(
                text,
                "session {} cannot go on: {}",
                lost.session,
                shown(&lost.reason)
            );
        }
        for head in &self.unrecorded {
            let _ = writeln!(
                text,
                "head {} ({}) of {} has no session on record; it is kept, and can be looked at, merged and forked",
                shown(&head.name),
                head.head,
                shown(&head.repository)
            );
        }
        for workspace in &self.not_opened {
            let _ = writeln!(
                text,
                "{} was not looked at: {}",
                shown(&workspace.repository),
                shown(&workspace.reason)
            );
        }
        if self.without_head.is_empty() && self.unrecorded.is_empty() && self.not_opened.is_empty()
        {
            text.push_str("every session has its head, and every head its session\n");
        }
        text
    }
}
