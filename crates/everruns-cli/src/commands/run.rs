//! `everruns run`

use everruns::session::TurnOutcome;
use everruns::{Engine, Session, Turn, Workspace, WorkspaceHead, WorkspaceHeadState};
use serde_json::json;

use super::head::diff_stat;
use crate::agents::worker;
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::hints::quoted;
use crate::output::{Output, line, note, shown};
use crate::state::StateFolder;
use crate::{progress, provider, repository};

pub(crate) async fn run(state: &StateFolder, output: Output, args: RunArgs) -> Result<(), Failure> {
    let chosen = provider::choose(args.model, None)?;
    let workspace = repository::open(state, &args.repo).await?;
    let agent = worker(chosen, std::sync::Arc::clone(workspace.backend()))?;
    let engine = Engine::local(state.path()).await?;
    let name = match args.head {
        Some(name) => name,
        None => free_name(&workspace, &args.task).await?,
    };
    let mut builder = workspace.head(name);
    if let Some(revision) = args.from {
        builder = builder.from_revision(revision);
    }
    let head = builder.create().await?;
    let session = engine.create(agent).workspace(head.clone()).start().await?;
    session.set_title(&title(&args.task)).await?;
    if !output.json {
        note(&format!("session {}", session.session_id()));
        let branch = head.descriptor().branch.as_deref().unwrap_or("-");
        note(&format!(
            "head    {} ({})",
            shown(head.name()),
            shown(branch)
        ));
    }
    turn(output, &session, &head, &args.task).await
}

/// Runs one turn, shows it as it happens, and what it changed at the end.
pub(crate) async fn turn(
    output: Output,
    session: &Session,
    head: &WorkspaceHead,
    message: &str,
) -> Result<(), Failure> {
    let updates = session.updates();
    let show = (!output.json).then(|| tokio::spawn(progress::show(updates)));
    let pending = session.send(message).await?;
    let stop = {
        let session = session.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                note("stopping; press Ctrl-C again to leave at once");
                session.cancel().await;
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::abort();
                }
            }
        })
    };
    let ended = pending.wait().await;
    stop.abort();
    if let Some(show) = show {
        if ended.is_err() {
            show.abort();
        }
        drop(show.await);
    }
    let turn = ended?;
    let diff = head.diff().await?;
    session.close().await;
    let id = session.session_id();
    if output.json {
        output.show(
            &json!({"session": id, "head": head.descriptor(), "turn": turn_json(&turn), "diff": diff}),
            String::new,
        )?;
    } else {
        line(&diff_stat(&diff))?;
        let name = quoted(head.name());
        line(&format!("see it      everruns head diff {name}"))?;
        line(&format!("go on       everruns resume {id} \"…\""))?;
    }
    outcome(&turn)
}

fn turn_json(turn: &Turn) -> serde_json::Value {
    json!({
        "number": turn.number,
        "success": turn.success,
        "outcome": turn.outcome,
        "response": turn.response,
        "iterations": turn.iterations,
        "tool_calls": turn.tool_calls,
        "usage": turn.usage,
    })
}

/// A turn that did not complete is a failure of the command; what it changed is kept all the same.
fn outcome(turn: &Turn) -> Result<(), Failure> {
    if turn.success {
        return Ok(());
    }
    let failure = match &turn.outcome {
        TurnOutcome::Completed => Failure::new("the model was cut off before it had said all"),
        TurnOutcome::LimitReached => Failure::new("the turn reached its limit of model requests"),
        TurnOutcome::Cancelled => Failure::new("the turn was cancelled"),
        TurnOutcome::Failed { reason } => {
            Failure::new(format!("the turn failed: {}", shown(reason)))
        }
        _ => Failure::new("the turn was interrupted"),
    };
    Err(failure.hint("everything up to here is kept; `everruns resume` goes on"))
}

fn title(task: &str) -> String {
    task.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(80)
        .collect()
}

/// A head name made of the task's first words that no living head of the workspace has.
async fn free_name(workspace: &Workspace, task: &str) -> Result<String, Failure> {
    let words: Vec<&str> = task.split_whitespace().take(6).collect();
    let plain = |c: char| if c.is_control() { '-' } else { c };
    let base: String = words.join(" ").chars().map(plain).take(50).collect();
    let base = if base.trim().is_empty() {
        "head".to_owned()
    } else {
        base.trim().to_owned()
    };
    let heads = workspace.heads().await?;
    let taken = |name: &str| {
        heads
            .iter()
            .any(|head| head.state != WorkspaceHeadState::Destroyed && head.name.as_str() == name)
    };
    if !taken(&base) {
        return Ok(base);
    }
    let numbered = (2..)
        .map(|number: u32| format!("{base} {number}"))
        .find(|name| !taken(name));
    Ok(numbered.unwrap_or(base))
}
