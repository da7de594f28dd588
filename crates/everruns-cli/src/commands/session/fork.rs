//! `everruns session fork`

use std::fmt::Write as _;

use everruns::WorkspaceHeadName;
use everruns::session::Sequence;
use serde_json::json;

use super::find::find_bound;
use super::open::{Held, hold};
use super::places::{Places, possible};
use crate::args::ForkArgs;
use crate::commands::head::{head_text, location};
use crate::failure::Failure;
use crate::free_name::free_name;
use crate::output::Output;
use crate::sessions::Sessions;
use crate::state::StateFolder;

pub(super) async fn run(
    state: &StateFolder,
    sessions: &Sessions,
    output: Output,
    args: ForkArgs,
) -> Result<(), Failure> {
    let record = find_bound(sessions, &args.session).await?;
    // What cannot be is refused before the session is taken up, which goes into its record.
    if let Some(name) = &args.name {
        WorkspaceHeadName::new(name.clone())?;
    }
    if let Some(event) = args.at {
        let places = Places::read(sessions, &record).await?;
        possible(state, &record, &places, Sequence(event))?;
    }
    let Held { session, head } = hold(state, sessions, &record).await?;
    let name = if let Some(name) = args.name {
        name
    } else {
        let heads = head.backend().heads(head.workspace_id()).await?;
        free_name(&heads, &format!("{} fork", head.name()))
    };
    let forked = match args.at {
        Some(event) => session.fork_at(name, Sequence(event)).await,
        None => session.fork(name).await,
    };
    session.close().await;
    let fork = forked?;
    fork.close().await;
    let Some(head) = fork.workspace_head() else {
        return Err(Failure::new(format!(
            "session {} was made without its head",
            fork.session_id()
        )));
    };
    let result = json!({
        "session": fork.session_id(),
        "forked_from": record.id,
        "at": args.at,
        "head": head.descriptor(),
        "location": location(&head),
    });
    output.show(&result, || {
        let mut text = format!(
            "made session {}, a fork of {}\n  head      {}",
            fork.session_id(),
            record.id,
            head_text(&head)
        );
        let go_on = state.command(&["resume", fork.session_id().as_str()], None);
        let _ = writeln!(text, "  go on     {go_on} \"…\"");
        text
    })
}
