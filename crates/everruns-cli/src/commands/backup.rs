//! `everruns backup`

use serde_json::json;

use crate::args::BackupArgs;
use crate::blocking::blocking;
use crate::failure::Failure;
use crate::files::{beside, check_target, exists, rename};
use crate::output::{Output, shown};
use crate::sessions::Sessions;
use crate::state::StateFolder;

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    args: BackupArgs,
) -> Result<(), Failure> {
    check_target(state, &args.target, args.force).await?;
    if !exists(&state.database()).await? {
        return Err(Failure::new(format!(
            "there is nothing to back up: {} holds no sessions",
            state.path().display()
        ))
        .hint("another state folder is chosen with `--state DIR` or EVERRUNS_STATE"));
    }
    let sessions = Sessions::open(state).await?;
    let written = write(&sessions, &args).await;
    sessions.close().await;
    let bytes = written?;
    output.show(&json!({"file": args.target, "bytes": bytes}), || {
        let file = shown(&args.target.display().to_string());
        format!(
            "backed up all sessions to {file} ({} KiB)\n  heads are not in it: they are in your repositories and in {}",
            bytes.div_ceil(1024),
            shown(&state.path().display().to_string())
        )
    })
}

/// Writes the copy and gives its length.
async fn write(sessions: &Sessions, args: &BackupArgs) -> Result<u64, Failure> {
    let target = args.target.clone();
    if args.force {
        let (folder, named) = (target.clone(), target.clone());
        let folder = blocking(move || beside(&folder)).await?;
        let copy = folder.path().join("copy");
        sessions.back_up(&copy).await?;
        blocking(move || rename(&copy, &named)).await?;
        // Until here: dropping it removes the folder.
        drop(folder);
    } else {
        sessions.back_up(&target).await?;
    }
    blocking(move || {
        let length = std::fs::metadata(&target).map(|found| found.len());
        length.map_err(|error| Failure::new(format!("{}: {error}", target.display())))
    })
    .await
}
