//! `everruns restore-backup`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use everruns::SqliteSessionStore;
use everruns::clock::{Clock as _, SystemClock};
use everruns::session::StoreError;
use serde_json::json;

use crate::args::RestoreBackupArgs;
use crate::failure::Failure;
use crate::files::exists;
use crate::output::{Output, shown};
use crate::reconcile::Fit;
use crate::sessions::Sessions;
use crate::state::StateFolder;
use crate::{repository, times};

pub(crate) async fn run(
    state: &StateFolder,
    output: Output,
    args: RestoreBackupArgs,
) -> Result<(), Failure> {
    // Makes the state folder, where it may be.
    repository::git(state).await?;
    if !exists(&args.backup).await? {
        return Err(Failure::new(format!(
            "{} is not there",
            args.backup.display()
        )));
    }
    let database = state.database();
    let there = exists(&database).await?;
    if there && !args.replace {
        return Err(Failure::new(format!(
            "there are sessions already in {}",
            database.display()
        ))
        .hint(
            "`--replace` moves them aside, where they are kept; `--state DIR` restores elsewhere",
        ));
    }
    let aside = free_name(&state.path().join(format!("sessions.db.before-{}", stamp()))).await?;
    let restored = SqliteSessionStore::restore_over(&args.backup, &database, &aside).await;
    let replaced = restored.map_err(|error| match error {
        StoreError::InUse { .. } | StoreError::HalfReplaced { .. } => error.into(),
        _ => Failure::of(&error)
            .hint("nothing was changed; `everruns backup FILE` writes what can be restored"),
    })?;
    let aside = replaced.then_some(aside);
    let sessions = Sessions::open(state).await?;
    let fit = Fit::of(state, &sessions).await;
    sessions.close().await;
    let fit = fit?;
    let result = json!({"database": database, "before": aside, "found": fit});
    output.show(&result, || {
        let mut text = format!("restored {}\n", shown(&args.backup.display().to_string()));
        if let Some(aside) = &aside {
            let aside = shown(&aside.display().to_string());
            let _ = writeln!(text, "  the sessions before are kept in {aside}");
        }
        text.push_str(&fit.text());
        text
    })
}

/// `wanted`, or with a number behind it where that is taken: two restorations can be of one second.
async fn free_name(wanted: &Path) -> Result<PathBuf, Failure> {
    let mut name = wanted.to_owned();
    let mut number = 1;
    while exists(&name).await? {
        number += 1;
        name = wanted.to_owned();
        name.as_mut_os_string().push(format!("-{number}"));
    }
    Ok(name)
}

/// The time, as it can be in the name of a file.
fn stamp() -> String {
    times::shown(SystemClock.now()).replace(':', "")
}
