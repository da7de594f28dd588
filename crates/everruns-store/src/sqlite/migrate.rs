use everruns_core::session::StoreError;
use sqlx::{AssertSqlSafe, Sqlite, Transaction};

use super::database::Database;
use super::judge::judge;
use super::open::OPERATION;
use super::probe::newer;
use crate::attempt::{self, Fault, Repeat};
use crate::driver::Driver as _;

/// The schema that this version writes, as `PRAGMA user_version`. A database of a greater one is refused.
pub const SCHEMA_VERSION: i64 = 1;

/// `PRAGMA application_id`: tells our databases from those of other programs. The letters `EVRS`.
pub(super) const APPLICATION_ID: i64 = 0x4556_5253;

/// What leads from one version to the next; the first leads from an empty file to version 1.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/sqlite/0001_sessions.sql")];

/// The tables that every version has, with a statement that reads one row of each.
pub(super) const TABLES: [(&str, &str); 4] = [
    ("sessions", "SELECT 1 FROM sessions LIMIT 1"),
    (
        "workspace_bindings",
        "SELECT 1 FROM workspace_bindings LIMIT 1",
    ),
    ("events", "SELECT 1 FROM events LIMIT 1"),
    ("leases", "SELECT 1 FROM leases LIMIT 1"),
];

/// Brings the file to [`SCHEMA_VERSION`] in one transaction, whoever else does the same at the same time.
pub(super) async fn migrate(database: &Database) -> Result<(), StoreError> {
    let judge = |error| judge(error, OPERATION, &database.location);
    attempt::run(database.policy, OPERATION, Repeat::Safe, judge, || {
        migrate_once(database)
    })
    .await
}

async fn migrate_once(database: &Database) -> Result<(), Fault> {
    let mut transaction = database.begin().await?;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *transaction)
        .await?;
    if version > SCHEMA_VERSION {
        return Err(newer(&database.location, version).into());
    }
    let done = usize::try_from(version).unwrap_or(0);
    let pending = MIGRATIONS.get(done..).unwrap_or_default();
    for &migration in pending {
        sqlx::raw_sql(migration).execute(&mut *transaction).await?;
    }
    // Also when nothing is pending: SQLite opens a file that it may not write without a word, and `BEGIN IMMEDIATE`
    // succeeds on it. This is the first write, and it fails.
    set_pragma(&mut transaction, "application_id", APPLICATION_ID).await?;
    set_pragma(&mut transaction, "user_version", SCHEMA_VERSION).await?;
    if pending.is_empty() {
        transaction.rollback().await?;
    } else {
        transaction.commit().await?;
    }
    Ok(())
}

async fn set_pragma(
    transaction: &mut Transaction<'static, Sqlite>,
    name: &'static str,
    value: i64,
) -> Result<(), Fault> {
    sqlx::raw_sql(AssertSqlSafe(format!("PRAGMA {name} = {value}")))
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
