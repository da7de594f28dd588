//! `everruns restore-backup`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use everruns::SqliteSessionStore;
use everruns::clock::{Clock as _, SystemClock};
use everruns::session::StoreError;
use serde_json::json;

use crate::args::RestoreBackupArgs;
use crate::blocking::blocking;
use crate::failure::Failure;
use crate::files::{beside, exists, rename};
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
    let place = database.clone();
    let folder = blocking(move || beside(&place)).await?;
    let restored = folder.path().join("restored.db");
    SqliteSessionStore::restore(&args.backup, &restored)
        .await
        .map_err(|error| {
            Failure::of(&error)
                .hint("nothing was changed; `everruns backup FILE` writes what can be restored")
        })?;
    let aside = if there {
        let aside = state.path().join(format!("sessions.db.before-{}", stamp()));
        move_aside(&database, &aside).await?;
        Some(aside)
    } else {
        None
    };
    let named = database.clone();
    blocking(move || rename(&restored, &named)).await?;
    drop(folder);
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

/// The time, as it can be in the name of a file.
fn stamp() -> String {
    times::shown(SystemClock.now()).replace(':', "")
}

/// Moves the present database, which nobody may have open, to another name.
async fn move_aside(database: &Path, aside: &Path) -> Result<(), Failure> {
    let sound = match SqliteSessionStore::open(database).await {
        Ok(store) => {
            store.close().await;
            true
        }
        Err(StoreError::CorruptDatabase { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    let (database, aside) = (database.to_owned(), aside.to_owned());
    blocking(move || {
        // The last to close a sound database removes its log.
        if sound && with_suffix(&database, "-wal").exists() {
            return Err(Failure::new(format!(
                "another process has {} open; nothing was changed",
                database.display()
            ))
            .hint("wait until every `everruns` has ended, and try again"));
        }
        for suffix in ["-wal", "-shm", ""] {
            let from = with_suffix(&database, suffix);
            if from.exists() {
                rename(&from, &with_suffix(&aside, suffix))?;
            }
        }
        Ok(())
    })
    .await
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
