//! `everruns session rewind`

use std::fmt::Write as _;

use everruns::session::{Sequence, SessionRecord};
use everruns::{PlaceFiles, RestorePlan, WorkspaceHead};
use serde_json::json;

use super::find::find_bound;
use super::open::{Held, hold};
use super::places::{self, Known, Places, possible};
use crate::args::RewindArgs;
use crate::commands::head::plan_text;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::output::{Output, shown};
use crate::repository;
use crate::sessions::Sessions;
use crate::state::StateFolder;

pub(super) async fn run(
    state: &StateFolder,
    sessions: &Sessions,
    output: Output,
    args: RewindArgs,
) -> Result<(), Failure> {
    let record = find_bound(sessions, &args.session).await?;
    let places = Places::read(sessions, &record).await?;
    let Some(event) = args.event else {
        return places::list(state, output, &record, &places);
    };
    let known = possible(state, &record, &places, Sequence(event))?;
    let files = plan(state, &record, known).await?;
    let turns = places.turns_after(known.place.event);
    let text = what_changes(known, turns, files.as_ref());
    let result = json!({
        "session": record.id,
        "to": event,
        "turns_left_out": turns,
        "files": files,
        "dry_run": args.dry_run,
    });
    if args.dry_run {
        return output.show(&result, || text);
    }
    if let Some(plan) = files.as_ref().filter(|plan| !plan.blocked.is_empty()) {
        return Err(in_the_way(plan));
    }
    confirm(args.yes, &text, "go back?").await?;
    go_back(state, sessions, output, &record, known, result).await
}

/// What would happen to the files; `None` when nothing has changed them.
async fn plan(
    state: &StateFolder,
    record: &SessionRecord,
    known: &Known,
) -> Result<Option<RestorePlan>, Failure> {
    let (PlaceFiles::Kept(checkpoint), Some(binding)) = (&known.place.files, &record.binding)
    else {
        return Ok(None);
    };
    let backend = repository::backend(state).await?;
    let head = WorkspaceHead::reopen(backend, binding).await?;
    Ok(Some(head.plan_restore(checkpoint).await?))
}

fn what_changes(known: &Known, turns: usize, files: Option<&RestorePlan>) -> String {
    let mut text = format!(
        "the conversation goes back to event {}, after {}; {}\n",
        known.place.event,
        known.after,
        left_out(turns),
    );
    match files {
        Some(plan) if plan.steps.is_empty() && plan.blocked.is_empty() => {
            text.push_str("no file would change\n");
        }
        Some(plan) => text.push_str(&plan_text(plan)),
        None => text.push_str("the session has changed no files\n"),
    }
    text
}

fn left_out(turns: usize) -> String {
    match turns {
        0 => "no turn is left out".to_owned(),
        1 => "1 turn after it is left out".to_owned(),
        more => format!("{more} turns after it are left out"),
    }
}

fn in_the_way(plan: &RestorePlan) -> Failure {
    let paths: Vec<String> = plan.blocked.iter().map(|path| shown(path)).collect();
    Failure::new(format!(
        "files that no checkpoint holds are in the way: {}; nothing was changed",
        paths.join(", ")
    ))
    .hint("move them away, and try again")
}

async fn go_back(
    state: &StateFolder,
    sessions: &Sessions,
    output: Output,
    record: &SessionRecord,
    known: &Known,
    mut result: serde_json::Value,
) -> Result<(), Failure> {
    let Held { session, head } = hold(state, sessions, record).await?;
    let rewound = session.rewind(known.place.event).await;
    session.close().await;
    let rewound = rewound?;
    result["before"] = json!(rewound.before);
    output.show(&result, || {
        let mut text = format!(
            "went back to event {}, after {}\n",
            known.place.event, known.after
        );
        match rewound.before.as_ref().map(|before| &before.location) {
            Some(Some(kept)) => {
                let _ = writeln!(
                    text,
                    "  files     as they were then; those before are kept in {}",
                    shown(kept)
                );
            }
            Some(None) => {
                text.push_str("  files     as they were then; those before were a commit\n");
            }
            None => text.push_str("  files     the session had changed none\n"),
        }
        let go_on = state.command(&["resume", record.id.as_str()], None);
        let _ = writeln!(text, "  head      {}", shown(head.name()));
        let _ = writeln!(text, "  go on     {go_on} \"…\"");
        text
    })
}
