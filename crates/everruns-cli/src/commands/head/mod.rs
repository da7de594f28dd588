//! `everruns head …`

mod change;
mod keep;
mod look;
mod make;
mod text;
mod work;

use crate::args::HeadCommand;
use crate::failure::Failure;
use crate::output::Output;
use crate::state::StateFolder;

pub(crate) use keep::plan_text;
pub(crate) use text::{diff_stat, diff_text, head_text, location};

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    command: HeadCommand,
) -> Result<(), Failure> {
    match command {
        HeadCommand::List { repo, all } => look::list(state, output, &repo, all).await,
        HeadCommand::Create {
            name,
            repo,
            from,
            shared,
        } => make::create(state, output, &repo, name, from, shared).await,
        HeadCommand::Fork {
            head,
            name,
            checkpoint,
        } => make::fork(state, output, &head, name, checkpoint).await,
        HeadCommand::Status(head) => look::status(state, output, &head).await,
        HeadCommand::Diff { head, stat } => look::diff(state, output, &head, stat).await,
        HeadCommand::Checkpoint { head, label, list } => {
            if list {
                look::checkpoints(state, output, &head).await
            } else {
                change::checkpoint(state, output, &head, label.as_deref()).await
            }
        }
        HeadCommand::Commit(args) => work::commit(state, output, args).await,
        HeadCommand::Merge(args) => work::merge(state, output, args).await,
        HeadCommand::Update(args) => work::update(state, output, args).await,
        HeadCommand::Restore(args) => keep::restore(state, output, args).await,
        HeadCommand::Prune { head, keep } => keep::prune(state, output, &head, keep).await,
        HeadCommand::Archive(head) => change::archive(state, output, &head).await,
        HeadCommand::Destroy(head) => change::destroy(state, output, &head).await,
        HeadCommand::Reopen(head) => change::reopen(state, output, &head).await,
    }
}
