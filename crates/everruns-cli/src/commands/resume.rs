//! `everruns resume`

use std::sync::Arc;

use everruns::session::{EventPayload, EventQuery, TurnOutcome};
use everruns::{Engine, SessionId};

use super::session::find_bound;
use super::turn::{self, Place};
use crate::agents::worker;
use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::output::{Output, note, shown};
use crate::sessions::Sessions;
use crate::state::StateFolder;
use crate::{provider, repository};

/// What an agent is told when its user has nothing to add.
const GO_ON: &str = "Go on.";
/// The same, when its last turn did not come to its end.
const GO_ON_FROM_THE_MIDDLE: &str =
    "Go on where you were interrupted. Check first what has taken effect.";

/// More events than there are between a turn's end and that of the record, as a rule.
const LATEST: u32 = 32;

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    args: ResumeArgs,
) -> Result<(), Failure> {
    if let Some(message) = &args.message
        && message.trim().is_empty()
    {
        return Err(Failure::new("the message is empty, so nothing was done")
            .hint("say what is to be done, or leave the message out to go on"));
    }
    let sessions = Sessions::open(state).await?;
    let done = go_on(state, &sessions, output, &args).await;
    sessions.close().await;
    done
}

async fn go_on(
    state: &StateFolder,
    engine: &Sessions,
    output: Output,
    args: &ResumeArgs,
) -> Result<(), Failure> {
    let record = find_bound(engine, &args.session).await?;
    let before = (record.agent.provider.as_str(), record.agent.model.as_str());
    let chosen = provider::choose(&args.model, Some(before))?;
    let backend = repository::backend(state).await?;
    let agent = worker(chosen, Arc::clone(&backend))?;
    engine.attach(record.id.clone(), agent);
    let session = engine.resume(&record.id).await?;
    let Some(head) = session.workspace_head() else {
        return Err(Failure::new(format!(
            "session {} came back without its head",
            record.id
        )));
    };
    if !output.json {
        note(&format!("session {}", record.id));
        let branch = head.descriptor().branch.as_deref().unwrap_or("-");
        note(&format!(
            "head    {} ({})",
            shown(head.name()),
            shown(branch)
        ));
    }
    let workspace = backend.workspace(head.workspace_id()).await?;
    let place = Place {
        state,
        session: &session,
        head: &head,
        locator: &workspace.locator,
    };
    let message = match &args.message {
        Some(message) => message,
        None => nothing_to_add(engine, &record.id).await?,
    };
    turn::take(output, &place, message).await
}

/// What says no more than that the agent is to go on.
async fn nothing_to_add(engine: &Engine, session: &SessionId) -> Result<&'static str, Failure> {
    let latest = engine
        .store()
        .events(session, EventQuery::last(LATEST))
        .await?;
    let outcome = latest
        .events
        .into_iter()
        .find_map(|event| match event.payload {
            EventPayload::TurnEnded { outcome, .. } => Some(outcome),
            _ => None,
        });
    Ok(match outcome {
        Some(TurnOutcome::Completed) => GO_ON,
        _ => GO_ON_FROM_THE_MIDDLE,
    })
}
