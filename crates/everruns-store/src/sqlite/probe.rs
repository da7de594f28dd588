//! Looks at a file before anything may write to it, so that a file which is not ours stays as it is.
//!
//! The file is read through SQLite alone: closing a descriptor of our own would drop the locks that another store of
//! this process holds on it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use everruns_core::session::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use super::judge::judge;
use super::migrate::{APPLICATION_ID, SCHEMA_VERSION, TABLES};
use super::open::OPERATION;
use crate::RetryPolicy;
use crate::attempt::{self, Fault, Repeat};
use crate::task::blocking;

/// A look that takes no locks can see another process's first steps half done, so a bad result is looked at again.
const LOOKS: u32 = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// One page of the smallest size, in bytes.
const SMALLEST: u64 = 512;

/// Fails unless the file is missing, empty, or a database that this version can use.
pub(super) async fn probe(location: &Path, policy: RetryPolicy) -> Result<(), StoreError> {
    let mut looks = 1;
    loop {
        match look(location, policy).await {
            Err(_) if looks < LOOKS => {}
            result => return result,
        }
        looks += 1;
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

async fn look(location: &Path, policy: RetryPolicy) -> Result<(), StoreError> {
    let sizes = {
        let location = location.to_owned();
        blocking(OPERATION, move || Sizes::of(&location)).await?
    };
    match (sizes.file, sizes.log) {
        (0, 0) => Ok(()),
        (0, _) => Err(corrupt(
            location,
            "it is empty, but its write-ahead log is not",
        )),
        // SQLite would take it for an empty database and write over it.
        (1..SMALLEST, _) => Err(corrupt(location, "it is too short")),
        (_, log) => {
            // Everything is in the file itself as long as the log is empty. Then SQLite need not make the two files
            // that reading with locks makes.
            let alone = (log == 0).then_some(sizes.file);
            let judge = |error| judge(error, OPERATION, location);
            attempt::run(policy, OPERATION, Repeat::Safe, judge, || {
                read(location, policy, alone)
            })
            .await
        }
    }
}

/// 0 stands for a missing file too.
struct Sizes {
    file: u64,
    log: u64,
}

impl Sizes {
    fn of(location: &Path) -> Result<Self, StoreError> {
        let mut log = OsString::from(location);
        log.push("-wal");
        Ok(Self {
            file: size(location, location)?,
            log: size(&PathBuf::from(log), location)?,
        })
    }
}

fn size(file: &Path, location: &Path) -> Result<u64, StoreError> {
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(_) => Err(corrupt(location, "it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(StoreError::ReadOnly {
                location: location.to_owned(),
                reason: error.to_string(),
            })
        }
        Err(error) => Err(StoreError::Failed {
            operation: OPERATION,
            source: error.into(),
        }),
    }
}

/// `alone` is the file's size when nothing is in its log.
async fn read(location: &Path, policy: RetryPolicy, alone: Option<u64>) -> Result<(), Fault> {
    let mut connection = SqliteConnectOptions::new()
        .filename(location)
        .busy_timeout(policy.lock_wait)
        .read_only(true)
        .immutable(alone.is_some())
        .connect()
        .await?;
    let mut result = examine(location, &mut connection).await;
    if let (Ok(()), Some(size)) = (&result, alone) {
        result = check_size(location, &mut connection, size).await;
    }
    // Nothing was written, so a failure to close loses nothing.
    drop(connection.close().await);
    result
}

async fn examine(location: &Path, connection: &mut SqliteConnection) -> Result<(), Fault> {
    let application: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await?;
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM sqlite_schema")
        .fetch_all(&mut *connection)
        .await?;
    if application == 0 && version == 0 && names.is_empty() {
        return Ok(());
    }
    if application != APPLICATION_ID {
        return Err(corrupt(location, "it is a database of another program").into());
    }
    if version > SCHEMA_VERSION {
        return Err(newer(location, version).into());
    }
    for (table, first_row) in TABLES {
        if !names.iter().any(|name| name == table) {
            return Err(corrupt(location, &format!("its table `{table}` is missing")).into());
        }
        sqlx::query(first_row)
            .fetch_optional(&mut *connection)
            .await?;
    }
    Ok(())
}

/// SQLite itself does not mind a last page that is incomplete.
async fn check_size(
    location: &Path,
    connection: &mut SqliteConnection,
    size: u64,
) -> Result<(), Fault> {
    let whole: i64 = sqlx::query_scalar(
        "SELECT page_size * page_count FROM pragma_page_size, pragma_page_count",
    )
    .fetch_one(connection)
    .await?;
    match u64::try_from(whole) {
        Ok(whole) if size >= whole => Ok(()),
        _ => Err(corrupt(
            location,
            &format!("it has {size} bytes of {whole}: it was cut off"),
        )
        .into()),
    }
}

pub(super) fn newer(location: &Path, found: i64) -> StoreError {
    StoreError::NewerSchema {
        location: location.to_owned(),
        found,
        supported: SCHEMA_VERSION,
    }
}

fn corrupt(location: &Path, reason: &str) -> StoreError {
    StoreError::CorruptDatabase {
        location: location.to_owned(),
        reason: reason.to_owned(),
    }
}
