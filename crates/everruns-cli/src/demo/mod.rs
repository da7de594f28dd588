//! `everruns demo`: the whole product at work on a small repository. Every line tells what was just seen to be so;
//! where something is not as it should be, the demonstration fails and says what.

mod agents;
mod crash;
mod fingerprint;
mod git;
mod heads;
mod repository;
mod say;

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::state::StateFolder;

pub(crate) use crash::child;

use say::{said, step};

pub(crate) async fn run(args: DemoArgs) -> Result<(), Failure> {
    let folder = tempfile::Builder::new()
        .prefix("everruns-demo-")
        .tempdir()
        .map_err(|error| Failure::new(format!("no temporary folder can be made: {error}")))?;
    let outcome = play(folder.path()).await;
    if args.keep {
        let kept = folder.keep();
        said(&format!(
            "kept {} (state in its folder `state`)",
            kept.display()
        ))?;
    } else if let Err(error) = folder.close() {
        said(&format!(
            "the temporary folder could not be removed: {error}"
        ))?;
    }
    outcome
}

async fn play(folder: &std::path::Path) -> Result<(), Failure> {
    let state = StateFolder::choose(Some(folder.join("state")))?;
    let project = folder.join("project");

    step("a repository with work of your own in it")?;
    repository::make(&project).await?;
    let before = fingerprint::take(&project).await?;
    said(&format!(
        "{} files, one of them changed by you and not committed",
        before.files()
    ))?;

    let heads = heads::work(&state, &project).await?;
    fingerprint::compare(&before, &project).await?;
    crash::survive(&state, &project).await?;
    heads::fork_and_destroy(&state, &project, heads).await?;

    step("your repository after all that")?;
    fingerprint::compare(&before, &project).await?;
    let worktrees = git::run(&project, &["worktree", "list"]).await?;
    said("`git worktree list` there says:")?;
    said(&worktrees)?;
    step("done: everything above happened, and was checked, just now")
}
