use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use everruns_core::session::StoreError;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use super::database::Database;
use super::{access, host, migrate, probe};
use crate::RetryPolicy;
use crate::appends::Appends;
use crate::task::blocking;

pub(super) const OPERATION: &str = "open the database";

/// More would wait for the same disk.
const READERS: u32 = 4;

/// How long an operation waits for a connection while others use them all.
const CONNECTION_WAIT: Duration = Duration::from_secs(30);

/// Readers beyond the first are closed after this time without use.
const READER_IDLE: Duration = Duration::from_mins(1);

pub(super) async fn open(path: &Path, policy: RetryPolicy) -> Result<Database, StoreError> {
    let path = path.to_owned();
    let location = blocking(OPERATION, move || {
        let location = prepare_folder(&path)?;
        host::check(&location)?;
        access::check(&location)?;
        Ok(location)
    })
    .await?;
    probe::probe(&location, policy).await?;
    let database = Database {
        writer: writer(&location, policy),
        reader: reader(&location, policy),
        location,
        policy,
        appends: Appends::default(),
    };
    match migrate::migrate(&database).await {
        Ok(()) => Ok(database),
        Err(error) => {
            database.close().await;
            Err(error)
        }
    }
}

/// The absolute path, whose folder exists. Absolute, so that a later change of the working directory changes nothing,
/// and so that SQLite does not take a name that begins with `file:` for a URI.
fn prepare_folder(path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source: io::Error| StoreError::Failed {
        operation: OPERATION,
        source: source.into(),
    };
    let location = std::path::absolute(path).map_err(failed)?;
    let Some(folder) = location.parent() else {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    };
    match folder_builder().recursive(true).create(folder) {
        Ok(()) => Ok(location),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Err(StoreError::ReadOnly {
                location,
                reason: format!("its folder cannot be made: {error}"),
            })
        }
        Err(error) => Err(failed(error)),
    }
}

/// Conversations are nobody else's business.
fn folder_builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "changed on Unix only"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

pub(super) fn options(location: &Path, policy: RetryPolicy) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(location)
        .busy_timeout(policy.lock_wait)
        .foreign_keys(true)
}

fn writer(location: &Path, policy: RetryPolicy) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(CONNECTION_WAIT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(
            options(location, policy)
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full),
        )
}

/// Readers could write as far as the file is concerned, because only then can the last one to close tidy up; the
/// pragma makes SQLite refuse it.
fn reader(location: &Path, policy: RetryPolicy) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(CONNECTION_WAIT)
        .idle_timeout(READER_IDLE)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(options(location, policy).pragma("query_only", "on"))
}
