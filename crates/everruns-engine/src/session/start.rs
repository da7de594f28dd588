use std::sync::Arc;

use everruns_core::environment::Environment;
use everruns_core::failpoint;
use everruns_core::session::{EventPayload, NewSession, StoreError};
use everruns_core::workspace::{WorkspaceBackend, WorkspaceHead};

use super::active::Stack;
use super::core::Draft;
use super::{Active, SessionCore, SessionEnvironmentError, SessionError, lease};
use crate::agent::{Agent, is_same};
use crate::engine::default_head;

/// Starts the session once.
pub(super) async fn start(core: &Arc<SessionCore>) -> Result<Arc<Active>, SessionError> {
    core.active
        .get_or_try_init(|| begin(core))
        .await
        .map(Arc::clone)
}

/// Row, binding, claim, lease, first event, seeded files: in this order, and undone when one of them fails.
async fn begin(core: &Arc<SessionCore>) -> Result<Arc<Active>, SessionError> {
    let draft = core.draft().clone();
    let environment = if let Some(environment) = &draft.environment {
        environment.clone()
    } else {
        let head = default_head::of(&core.engine, &draft.agent, &core.id).await?;
        let environment = Environment::new(head);
        // A repeated start takes the same head instead of making another.
        core.draft().environment = Some(environment.clone());
        environment
    };
    let head = environment.workspace_head();
    check_backend(&draft.agent, head.backend())?;
    let stack = Stack::new(&draft.agent, &environment);
    if let Err(error) = record(core, &draft, head, &stack).await {
        undo(core, head).await;
        return Err(error);
    }
    core.engine.remember(&core.id, head.backend());
    let active = Active {
        agent: draft.agent,
        environment,
        files: stack.files(),
        seen: Arc::clone(&core.journal.seen),
        own_changes: stack.own_changes(),
    };
    Ok(active.known_to(&core.journal))
}

/// One id means one backend for a session: the agent's, when it has registered one.
fn check_backend(agent: &Agent, used: &Arc<dyn WorkspaceBackend>) -> Result<(), SessionError> {
    match agent.parts().backends.get(used.id()) {
        Some(registered) if !is_same(registered, used) => {
            Err(SessionEnvironmentError::backend_conflict(used.id().clone()).into())
        }
        _ => Ok(()),
    }
}

async fn record(
    core: &Arc<SessionCore>,
    draft: &Draft,
    head: &WorkspaceHead,
    stack: &Stack,
) -> Result<(), SessionError> {
    let store = core.journal.store();
    let row = NewSession {
        id: core.id.clone(),
        title: draft.title.clone(),
        agent: draft.agent.summary(),
        created_at: core.engine.services.clock.now(),
    };
    match store.create(row).await {
        // The id has 100 random bits: only an earlier start of this very session can have left the row.
        Ok(_) | Err(StoreError::AlreadyExists { .. }) => {}
        Err(error) => return Err(SessionError::from_store(error)),
    }
    failpoint::hit("engine.start.after-create")?;
    store
        .bind(&core.id, head.binding())
        .await
        .map_err(SessionError::from_store)?;
    failpoint::hit("engine.start.after-bind")?;
    head.claim(&core.id)
        .await
        .map_err(SessionError::from_workspace)?;
    failpoint::hit("engine.start.after-claim")?;
    let mut state = core.journal.hold().await?;
    failpoint::hit("engine.start.after-lease")?;
    let started = EventPayload::SessionStarted {
        agent: draft.agent.summary(),
    };
    core.journal.append(&mut state, vec![started]).await?;
    failpoint::hit("engine.start.after-started")?;
    stack.plant().await
}

/// Removes what a failed start left. Nothing has executed, so that nothing is lost; what cannot be removed is
/// found and used by a repeated start of the same session.
async fn undo(core: &Arc<SessionCore>, head: &WorkspaceHead) {
    let journal = &core.journal;
    let mut state = journal.lock().await;
    lease::give_up(journal, &mut state).await;
    if let Err(error) = head.release(&core.id).await {
        tracing::warn!(session = %core.id, %error, "the claim of a session that did not start is left");
    }
    let deleted = journal.store().delete(&core.id, None).await;
    match deleted {
        Ok(()) => journal.reset(&mut state),
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => {
            tracing::warn!(session = %core.id, %error, "the row of a session that did not start is left");
        }
    }
}
