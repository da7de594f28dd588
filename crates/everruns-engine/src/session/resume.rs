use std::sync::Arc;

use everruns_core::environment::{Environment, EnvironmentError};
use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::session::{EventPayload, SessionRecord};
use everruns_core::workspace::{WorkspaceBinding, WorkspaceHead};

use super::active::Stack;
use super::{Active, Session, SessionCore, SessionEnvironmentError, SessionError, lease, repair};
use crate::agent::Agent;
use crate::engine::{EngineParts, ResumeError};

/// Makes the environment of a session around its recorded head.
pub(crate) type MakeEnvironment =
    Box<dyn FnOnce(WorkspaceHead) -> Result<Environment, EnvironmentError> + Send>;

/// Goes on with a recorded session on exactly its recorded head.
pub(crate) async fn resume(
    engine: &Arc<EngineParts>,
    id: SessionId,
    environment: MakeEnvironment,
) -> Result<Session, ResumeError> {
    if let Some(core) = engine.live(&id) {
        return Ok(Session::new(core));
    }
    let record = record(engine, &id).await?;
    let Some(binding) = record.binding else {
        return Err(ResumeError::NotBound { session: id });
    };
    let (Some(agent), Some(gate)) = (engine.agent(&id), engine.gate(&id)) else {
        return Err(ResumeError::AgentNotAttached { session: id });
    };
    let _only_one = gate.lock().await;
    if let Some(core) = engine.live(&id) {
        return Ok(Session::new(core));
    }
    let head = reopen(engine, &id, &agent, &binding).await?;
    failpoint::hit("engine.resume.after-reopen")?;
    head.claim(&id)
        .await
        .map_err(|error| ResumeError::from_workspace(&id, error))?;
    failpoint::hit("engine.resume.after-claim")?;
    let core = Arc::new(SessionCore::recorded(id, Arc::clone(engine), agent.clone()));
    let environment = make_environment(&core.id, head, environment).map_err(|error| *error)?;
    activate(&core, agent, environment).await?;
    engine.set_live(&core);
    Ok(Session::new(core))
}

async fn record(engine: &EngineParts, id: &SessionId) -> Result<SessionRecord, ResumeError> {
    let store = &engine.services.store;
    let mut attempts = 0;
    loop {
        match store.session(id).await {
            Err(error) if error.is_retryable() && attempts < 5 => {
                attempts += 1;
                tokio::time::sleep(std::time::Duration::from_millis(20 << attempts)).await;
            }
            outcome => return outcome.map_err(|error| ResumeError::from_store(id, error)),
        }
    }
}

/// Exactly the recorded head, from the backend that the session may use under the recorded id.
async fn reopen(
    engine: &EngineParts,
    id: &SessionId,
    agent: &Agent,
    binding: &WorkspaceBinding,
) -> Result<WorkspaceHead, ResumeError> {
    let backend = engine
        .backend(id, agent, &binding.provider_id)
        .ok_or_else(|| ResumeError::backend_unavailable(id.clone(), binding.provider_id.clone()))?;
    WorkspaceHead::reopen(backend, binding)
        .await
        .map_err(|error| ResumeError::from_workspace(id, error))
}

/// The environment, which must be around the very head that was reopened.
fn make_environment(
    session: &SessionId,
    head: WorkspaceHead,
    make: MakeEnvironment,
) -> Result<Environment, Box<ResumeError>> {
    let recorded = head.id().clone();
    let environment = make(head).map_err(|error| {
        let error = SessionEnvironmentError::Environment(error);
        Box::new(SessionError::from(error).into())
    })?;
    let found = environment.workspace_head().id();
    if *found == recorded {
        return Ok(environment);
    }
    Err(Box::new(ResumeError::IdentityMismatch {
        session: session.clone(),
        expected: format!("head {recorded}"),
        found: format!("head {found} in the environment made for it"),
    }))
}

/// Takes the lease, closes what was interrupted, and lets the session execute again.
async fn activate(
    core: &Arc<SessionCore>,
    agent: Agent,
    environment: Environment,
) -> Result<(), ResumeError> {
    let stack = Stack::new(&agent, &environment);
    let summary = agent.summary();
    let journal = &core.journal;
    let active = Active {
        agent,
        environment,
        files: stack.files(),
        seen: Arc::clone(&journal.seen),
        own_changes: stack.own_changes(),
    };
    let active = active.known_to(journal);
    let mut state = journal.hold().await?;
    failpoint::hit("engine.resume.after-lease")?;
    if let Err(error) = repair::finish_intent(journal, &active, &mut state).await {
        lease::give_up(journal, &mut state).await;
        return Err(error.into());
    }
    let mut events = repair::closing(journal, &active, &mut state).await;
    events.push(if state.has_events() {
        EventPayload::SessionResumed { agent: summary }
    } else {
        EventPayload::SessionStarted { agent: summary }
    });
    if let Err(error) = journal.append(&mut state, events).await {
        lease::give_up(journal, &mut state).await;
        return Err(error.into());
    }
    failpoint::hit("engine.resume.after-repair")?;
    // A process may have ended after the first event and before the files were there. Once a turn has begun they
    // were, and one that is missing was removed on purpose.
    let unused = state.conversation.turns() == 0;
    drop(state);
    if unused {
        stack.plant().await?;
    }
    core.engine
        .remember(&core.id, active.environment.workspace_head().backend());
    // The cell is empty: the core was made a moment ago and nobody else knows it.
    core.active.get_or_init(|| async { active }).await;
    Ok(())
}
