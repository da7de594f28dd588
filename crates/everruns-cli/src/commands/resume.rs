//! `everruns resume`

use std::sync::Arc;

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
const GO_ON: &str = "Go on where you were interrupted. Check first what has taken effect.";

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    args: ResumeArgs,
) -> Result<(), Failure> {
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
    turn::take(output, &place, args.message.as_deref().unwrap_or(GO_ON)).await
}
