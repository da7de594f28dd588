use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use everruns_core::session::StoreError;
use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_lock};
use rustix::io::Errno;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions as _, Connection as _};

use super::super::judge::judge;
use super::super::{backup::failed, open, probe};
use super::names::is_there;
use super::run::REPLACE;
use crate::RetryPolicy;
use crate::attempt::{self, Fault, Repeat};
use crate::task::blocking;

/// Keeps everybody else off the old database until it is given up.
pub(super) enum Lock {
    /// There is nothing to lock.
    Nothing,
    /// SQLite's own, on a database that has no log beside it any more.
    Sound(SqliteConnection),
    /// On the whole file, and so on the bytes that SQLite locks. No other descriptor of it may be closed in this process
    /// meanwhile: that would give it up.
    Damaged(OwnedFd),
}

impl Lock {
    pub(super) async fn take(location: &Path, policy: RetryPolicy) -> Result<Self, StoreError> {
        let place = location.to_owned();
        let regular = blocking(REPLACE, move || match std::fs::metadata(&place) {
            Ok(found) => Ok(found.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(REPLACE, error)),
        });
        if !regular.await? {
            return Ok(Self::Nothing);
        }
        let sound = match probe::probe(location, policy).await {
            Ok(()) => sound(location, policy).await,
            Err(error) => Err(error),
        };
        match sound {
            Ok(connection) => Ok(Self::Sound(connection)),
            Err(StoreError::CorruptDatabase { .. }) => {
                let location = location.to_owned();
                blocking(REPLACE, move || damaged(&location)).await
            }
            Err(StoreError::Busy { .. }) => Err(in_use(location)),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn give_up(self) {
        match self {
            Self::Nothing => {}
            // Nothing was written since the log was moved: a failure to close loses nothing.
            Self::Sound(connection) => drop(connection.close().await),
            Self::Damaged(file) => drop(file),
        }
    }
}

/// Without a log a database can be locked as a whole, and its log is moved only while nobody else has it open. Who comes
/// between the two turns the log on again, which is seen under the lock.
async fn sound(location: &Path, policy: RetryPolicy) -> Result<SqliteConnection, StoreError> {
    let judge = |error| judge(error, REPLACE, location);
    attempt::run(policy, REPLACE, Repeat::Safe, judge, || async {
        let options = open::options(location, policy).create_if_missing(false);
        let mut connection = options.connect().await?;
        match move_log(location, &mut connection).await {
            Ok(()) => Ok(connection),
            Err(fault) => {
                // Before another lock is tried, which the end of this connection would give up. It has written nothing.
                drop(connection.close().await);
                Err(fault)
            }
        }
    })
    .await
}

async fn move_log(location: &Path, connection: &mut SqliteConnection) -> Result<(), Fault> {
    for statement in [
        "SELECT count(*) FROM sqlite_schema",
        "PRAGMA journal_mode = DELETE",
        "BEGIN EXCLUSIVE",
    ] {
        sqlx::query(statement).fetch_all(&mut *connection).await?;
    }
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(connection)
        .await?;
    let place = location.to_owned();
    let log = blocking(REPLACE, move || is_there(&place, "-wal")).await?;
    if mode != "delete" || log {
        return Err(in_use(location).into());
    }
    Ok(())
}

fn damaged(location: &Path) -> Result<Lock, StoreError> {
    let file = rustix::fs::open(location, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let file = file.map_err(|error| failed(REPLACE, error.into()))?;
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Damaged(file)),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(in_use(location)),
        Err(error) => Err(failed(REPLACE, error.into())),
    }
}

fn in_use(location: &Path) -> StoreError {
    StoreError::InUse {
        location: location.to_owned(),
    }
}
