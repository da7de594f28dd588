//! From the command line to each command's own module.

use super::{delete, events, fork, list, rewind, show, transfer};
use crate::args::SessionCommand;
use crate::failure::Failure;
use crate::output::Output;
use crate::sessions::Sessions;
use crate::state::StateFolder;

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    command: SessionCommand,
) -> Result<(), Failure> {
    let sessions = Sessions::open(state).await?;
    let done = dispatch(state, &sessions, output, command).await;
    sessions.close().await;
    done
}

async fn dispatch(
    state: &StateFolder,
    sessions: &Sessions,
    output: Output,
    command: SessionCommand,
) -> Result<(), Failure> {
    match command {
        SessionCommand::List(args) => list::list(state, sessions, output, args).await,
        SessionCommand::Show { session } => show::show(state, sessions, output, &session).await,
        SessionCommand::Events(args) => events::run(sessions, output, args).await,
        SessionCommand::Fork(args) => fork::run(state, sessions, output, args).await,
        SessionCommand::Rewind(args) => rewind::run(state, sessions, output, args).await,
        SessionCommand::Export(args) => transfer::export(state, sessions, output, args).await,
        SessionCommand::Import { file } => transfer::import(state, sessions, output, file).await,
        SessionCommand::Delete(args) => delete::run(state, sessions, output, args).await,
    }
}
