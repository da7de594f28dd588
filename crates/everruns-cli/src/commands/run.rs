//! `everruns run`

use everruns::{Agent, Workspace, WorkspaceError, WorkspaceHead};

use super::turn::{self, Place};
use crate::agents::worker;
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::free_name::free_name;
use crate::output::{Output, note, shown};
use crate::sessions::Sessions;
use crate::state::StateFolder;
use crate::{provider, repository};

/// How often another name is looked for when others keep taking them.
const NAME_ATTEMPTS: u32 = 20;

pub(crate) async fn run(state: &StateFolder, output: Output, args: RunArgs) -> Result<(), Failure> {
    if args.task.trim().is_empty() {
        return Err(Failure::new("the task is empty, so nothing was started")
            .hint("say what is to be done: `everruns run \"Fix the failing test.\"`"));
    }
    let chosen = provider::choose(&args.model, None)?;
    let workspace = repository::open(state, &args.repo).await?;
    let agent = worker(chosen, std::sync::Arc::clone(workspace.backend()))?;
    let sessions = Sessions::open(state).await?;
    let done = start(state, &sessions, output, args, &workspace, agent).await;
    sessions.close().await;
    done
}

async fn start(
    state: &StateFolder,
    sessions: &Sessions,
    output: Output,
    args: RunArgs,
    workspace: &Workspace,
    agent: Agent,
) -> Result<(), Failure> {
    let head = make_head(&args, workspace).await?;
    let session = sessions
        .create(agent)
        .workspace(head.clone())
        .start()
        .await?;
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
    let place = Place {
        state,
        session: &session,
        head: &head,
        locator: &workspace.descriptor().locator,
    };
    turn::take(output, &place, &args.task).await
}

/// Makes the head with the name that was asked for, or with one that is free.
async fn make_head(args: &RunArgs, workspace: &Workspace) -> Result<WorkspaceHead, Failure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let name = match &args.head {
            Some(name) => name.clone(),
            None => name_of(workspace, &args.task).await?,
        };
        let mut builder = workspace.head(name);
        if let Some(revision) = &args.from {
            builder = builder.from_revision(revision);
        }
        match builder.create().await {
            Ok(head) => return Ok(head),
            // Another process may have taken the name since it was looked for.
            Err(WorkspaceError::NameTaken { .. })
                if args.head.is_none() && attempts < NAME_ATTEMPTS => {}
            Err(error @ WorkspaceError::NameTaken { .. }) => {
                return Err(
                    Failure::from(error).hint("the new head's name is chosen with `--head NAME`")
                );
            }
            Err(other) => return Err(other.into()),
        }
    }
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
async fn name_of(workspace: &Workspace, task: &str) -> Result<String, Failure> {
    let words: Vec<&str> = task.split_whitespace().take(6).collect();
    Ok(free_name(&workspace.heads().await?, &words.join(" ")))
}
