//! Two agents in two heads; then a fork with uncommitted work, and a head destroyed.

use std::path::Path;
use std::sync::Arc;

use everruns::path::WorkspacePath;
use everruns::{Engine, Simulated, Workspace, WorkspaceHead};

use super::say::{must, said, step};
use super::{agents, git};
use crate::commands::head::{diff_stat, diff_text};
use crate::failure::Failure;
use crate::output::shown;
use crate::repository;
use crate::state::StateFolder;

/// The heads that the agents worked in.
pub(super) struct Worked {
    polite: WorkspaceHead,
}

pub(super) async fn work(state: &StateFolder, project: &Path) -> Result<Worked, Failure> {
    let workspace = repository::open(state, project).await?;
    let engine = Engine::local(state.path()).await?;

    step("two heads of it, made from main")?;
    let polite = workspace
        .head("polite greeting")
        .from_revision("main")
        .create()
        .await?;
    let tester = workspace
        .head("add a test")
        .from_revision("main")
        .create()
        .await?;
    for head in [&polite, &tester] {
        said(&format!(
            "{} on branch {}",
            shown(head.name()),
            head.descriptor().branch.as_deref().unwrap_or("-")
        ))?;
    }

    session(
        &engine,
        &workspace,
        &polite,
        agents::polite(),
        "Make the greeting polite.",
    )
    .await?;
    session(
        &engine,
        &workspace,
        &tester,
        agents::tester(),
        "Add a test.",
    )
    .await?;
    let untouched = tester
        .diff()
        .await?
        .files
        .iter()
        .all(|file| file.path != "src/greet.py");
    must(untouched, "one head does not see what another changed")?;
    Ok(Worked { polite })
}

async fn session(
    engine: &Engine,
    workspace: &Workspace,
    head: &WorkspaceHead,
    script: Simulated,
    task: &str,
) -> Result<(), Failure> {
    step(&format!("an agent in {}: {task}", shown(head.name())))?;
    let agent = agents::agent(script, Arc::clone(workspace.backend()))?;
    let session = engine.create(agent).workspace(head.clone()).start().await?;
    let turn = session.send_and_wait(task).await?;
    session.close().await;
    must(turn.success, "the agent finished its turn")?;
    said(&format!(
        "{} model requests, {} tool calls; it says: {}",
        turn.iterations, turn.tool_calls, turn.response
    ))?;
    let diff = head.diff().await?;
    must(diff.changed, "the agent changed files in its head")?;
    said(&diff_text(&diff))
}

pub(super) async fn fork_and_destroy(
    state: &StateFolder,
    project: &Path,
    worked: Worked,
) -> Result<(), Failure> {
    let source = worked.polite;
    step(&format!(
        "a fork of {} with its uncommitted work",
        shown(source.name())
    ))?;
    let fork = source.fork("polite greeting, second try").await?;
    let (there, here) = (git_status(&source).await?, git_status(&fork).await?);
    must(
        !there.is_empty() && there == here,
        "`git status` says the same in the fork as in its source",
    )?;
    said(&format!(
        "`git status --porcelain` says the same in both:\n{there}"
    ))?;
    said(&diff_stat(&fork.diff().await?))?;

    step(&format!("{} is destroyed", shown(source.name())))?;
    let folder = folder(&source)?;
    let receipt = source.destroy().await?;
    must(!folder.exists(), "its folder is gone")?;
    let branch = receipt
        .kept_branch
        .ok_or_else(|| Failure::new("the receipt names no branch"))?;
    git::run(
        project,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("refs/heads/{branch}"),
        ],
    )
    .await?;
    said(&format!(
        "its folder is gone; `git rev-parse` finds its branch {branch}"
    ))?;
    let kept = receipt
        .kept_ref
        .ok_or_else(|| Failure::new("the receipt names no ref for the uncommitted work"))?;
    let work = git::run(project, &["show", &format!("{kept}:src/greet.py")]).await?;
    must(
        work.contains("Good day, "),
        "its uncommitted work is under the ref",
    )?;
    said(&format!(
        "its uncommitted work is in {kept}; `git show` prints it:"
    ))?;
    said(work.lines().nth(1).unwrap_or_default())?;
    let reopened = repository::open(state, project)
        .await?
        .open_head(source.id())
        .await;
    match reopened {
        Err(error) => said(&format!("opening it again is refused: {error}")),
        Ok(_) => Err(Failure::new("a destroyed head could be opened again")),
    }
}

async fn git_status(head: &WorkspaceHead) -> Result<String, Failure> {
    git::run(&folder(head)?, &["status", "--porcelain"]).await
}

pub(super) fn folder(head: &WorkspaceHead) -> Result<std::path::PathBuf, Failure> {
    head.file_system()
        .host_path(&WorkspacePath::root())
        .ok_or_else(|| {
            Failure::new(format!(
                "head {} is in no folder of this machine",
                head.id()
            ))
        })
}
