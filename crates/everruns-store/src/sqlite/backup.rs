//! Copies of the whole database, made while it is used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::session::{EventPayload, StoreError};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use sqlx::ConnectOptions as _;
use sqlx::Connection as _;

use super::database::Database;
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
        let draft = draft(&target);
        remove(&draft, BACK_UP).await?;
        let result = copy(&database.location, database.policy, &draft).await;
        finish(result, draft, target, BACK_UP).await
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
        let draft = draft(&target);
        remove(&draft, RESTORE).await?;
        let mut result = copy(&backup, policy, &draft).await;
        if result.is_ok() {
            result = leap(&draft, policy).await;
        }
        finish(result, draft, target, RESTORE).await
    })
    .await
}

/// One transaction reads everything, so that the copy is of one moment and writers go on.
async fn copy(from: &Path, policy: RetryPolicy, to: &Path) -> Result<(), StoreError> {
    let judge = |error| judge(error, BACK_UP, from);
    attempt::run(policy, BACK_UP, Repeat::Safe, judge, || async {
        let options = open::options(from, policy);
        let mut connection = options.create_if_missing(false).connect().await?;
        let copied = sqlx::query("VACUUM INTO $1")
            .bind(to.to_string_lossy().into_owned())
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

fn draft(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

async fn remove(draft: &Path, operation: &'static str) -> Result<(), StoreError> {
    let draft = draft.to_owned();
    blocking(operation, move || match std::fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(operation, error)),
        _ => Ok(()),
    })
    .await
}

/// Gives a finished copy its name, or removes one that is not.
async fn finish(
    result: Result<(), StoreError>,
    draft: PathBuf,
    target: PathBuf,
    operation: &'static str,
) -> Result<(), StoreError> {
    let named = match result {
        Ok(()) => {
            let draft = draft.clone();
            blocking(operation, move || name(&draft, &target, operation)).await
        }
        Err(error) => Err(error),
    };
    if named.is_err() {
        remove(&draft, operation).await?;
    }
    named
}

fn name(draft: &Path, target: &Path, operation: &'static str) -> Result<(), StoreError> {
    flush(draft).map_err(|error| failed(operation, error))?;
    match renameat_with(CWD, draft, CWD, target, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::EXIST) => {
            return Err(StoreError::FileExists {
                location: target.to_owned(),
            });
        }
        other => other.map_err(|error| failed(operation, error.into()))?,
    }
    let folder = target.parent().unwrap_or(target);
    flush(folder).map_err(|error| failed(operation, error))
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
