//! Copies of the whole database, made while it is used.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::session::{EventPayload, StoreError};
use sqlx::ConnectOptions as _;
use sqlx::Connection as _;

use super::database::Database;
use super::draft::Draft;
use super::judge::judge;
use super::{open, probe};
use crate::RetryPolicy;
use crate::attempt::{self, Repeat};
use crate::sql;
use crate::task::{blocking, to_its_end};

const BACK_UP: &str = "back up the database";
const RESTORE: &str = "restore the database";

/// Added to the tokens of a restored database, so that none which was given since the backup is given again.
const TOKEN_LEAP: i64 = 1 << 32;

/// Writes a copy to `target`, which must not exist. There is a whole copy or none.
pub(super) async fn back_up(database: &Arc<Database>, target: &Path) -> Result<(), StoreError> {
    let target = std::path::absolute(target).map_err(|error| failed(BACK_UP, error))?;
    let database = Arc::clone(database);
    to_its_end(BACK_UP, async move {
        let draft = Draft::beside(target, BACK_UP).await?;
        let copied = copy(&database.location, database.policy, draft.path()).await;
        draft.finish(copied, BACK_UP).await
    })
    .await
}

/// Makes `target`, which must not exist, of a backup.
pub(super) async fn restore(
    backup: &Path,
    target: &Path,
    policy: RetryPolicy,
) -> Result<(), StoreError> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| failed(RESTORE, error));
    let (backup, target) = (absolute(backup)?, absolute(target)?);
    to_its_end(RESTORE, async move {
        probe::probe(&backup, policy).await?;
        let draft = Draft::beside(target, RESTORE).await?;
        let restored = fill(&backup, draft.path(), policy).await;
        draft.finish(restored, RESTORE).await
    })
    .await
}

/// Makes `target`, which must not exist, of a backup. What it fails to finish stays, under that name.
pub(super) async fn restore_in_place(
    backup: &Path,
    target: PathBuf,
    policy: RetryPolicy,
) -> Result<(), StoreError> {
    probe::probe(backup, policy).await?;
    let made = target.clone();
    blocking(RESTORE, move || {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let made = options.open(&made).map(drop);
        made.map_err(|error| failed(RESTORE, error))
    })
    .await?;
    fill(backup, &target, policy).await?;
    blocking(RESTORE, move || {
        flush(&target)
            .and_then(|()| flush(target.parent().unwrap_or(&target)))
            .map_err(|error| failed(RESTORE, error))
    })
    .await
}

async fn fill(backup: &Path, draft: &Path, policy: RetryPolicy) -> Result<(), StoreError> {
    copy(backup, policy, draft).await?;
    leap(draft, policy).await
}

/// One transaction reads everything, so that the copy is of one moment and writers go on. `to` is a file of ours.
async fn copy(from: &Path, policy: RetryPolicy, to: &Path) -> Result<(), StoreError> {
    let judge = |error| judge(error, BACK_UP, from);
    let Some(name) = to.to_str() else {
        let reason = "SQLite takes names of UTF-8 only";
        return Err(failed(
            BACK_UP,
            io::Error::new(io::ErrorKind::InvalidInput, reason),
        ));
    };
    attempt::run(policy, BACK_UP, Repeat::Safe, judge, || async {
        // SQLite writes into an empty file only, which an attempt before may have begun to fill.
        let file = to.to_owned();
        blocking(BACK_UP, move || {
            let emptied = OpenOptions::new().write(true).truncate(true).open(file);
            emptied.map(drop).map_err(|error| failed(BACK_UP, error))
        })
        .await?;
        let options = open::options(from, policy);
        let mut connection = options.create_if_missing(false).connect().await?;
        let copied = sqlx::query("VACUUM INTO $1")
            .bind(name)
            .execute(&mut connection)
            .await;
        // Nothing was written here, so that a failure to close loses nothing.
        drop(connection.close().await);
        copied?;
        Ok(())
    })
    .await
}

/// Whoever held a lease when the backup was made, or took one since, is fenced off, and every session's record says that
/// it was restored: the model has to know that its files may be newer.
async fn leap(draft: &Path, policy: RetryPolicy) -> Result<(), StoreError> {
    let judge = |error| judge(error, RESTORE, draft);
    let restored = serde_json::to_string(&EventPayload::RecordRestored);
    let restored = restored.map_err(|error| failed(RESTORE, error.into()))?;
    attempt::run(policy, RESTORE, Repeat::Safe, judge, || async {
        let options = open::options(draft, policy);
        let mut connection = options.create_if_missing(false).connect().await?;
        let mut transaction = connection.begin().await?;
        sqlx::query(sql::leases::LEAP)
            .bind(TOKEN_LEAP)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(sql::events::INSERT_RESTORED)
            .bind(SystemClock.now().as_millis())
            .bind(&restored)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(sql::sessions::NOTE_RESTORED)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(connection.close().await?)
    })
    .await
}

pub(super) fn flush(path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(rustix::fs::fsync(opened)?)
}

pub(super) fn failed(operation: &'static str, error: io::Error) -> StoreError {
    StoreError::Failed {
        operation,
        source: error.into(),
    }
}
