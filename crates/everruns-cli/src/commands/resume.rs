//! `everruns resume`

use everruns::Engine;

use super::run;
use super::session::find;
use crate::agents::worker;
use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::output::{Output, note, shown};
use crate::state::StateFolder;
use crate::{provider, repository};

/// What an agent is told when its user has nothing to add.
const GO_ON: &str = "Go on where you were interrupted. Check first what has taken effect.";

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    args: ResumeArgs,
) -> Result<(), Failure> {
    let engine = Engine::local(state.path()).await?;
    let record = find(&engine, &args.session).await?;
    let before = (record.agent.provider.as_str(), record.agent.model.as_str());
    let chosen = provider::choose(args.model, Some(before))?;
    let agent = worker(chosen, repository::backend(state).await?)?;
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
        note(&format!("head    {} ({})", shown(head.name()), head.id()));
    }
    run::turn(
        output,
        &session,
        &head,
        args.message.as_deref().unwrap_or(GO_ON),
    )
    .await
}
