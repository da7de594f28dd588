use everruns_core::session::StoreError;

use super::connect::OPERATION;
use super::database::Database;
use super::judge::judge;
use crate::attempt::{self, Fault, Repeat};
use crate::driver::Driver as _;

/// The schema that this version writes, as recorded in the table `everruns_schema`. A database of a greater one is
/// refused.
pub const SCHEMA_VERSION: i64 = 1;

/// What leads from one version to the next; the first leads from an empty schema to version 1.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/postgres/0001_sessions.sql")];

/// Lets one at a time migrate. Any number will do, as long as every version uses the same.
const MIGRATION_LOCK: i64 = 0x4556_5253;

/// Brings the database to [`SCHEMA_VERSION`] in one transaction, whoever else does the same at the same time.
pub(super) async fn migrate(database: &Database) -> Result<(), StoreError> {
    let judge = |error| judge(error, OPERATION, &database.location);
    attempt::run(database.policy, OPERATION, Repeat::Safe, judge, || {
        migrate_once(database)
    })
    .await
}

async fn migrate_once(database: &Database) -> Result<(), Fault> {
    let mut transaction = database.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *transaction)
        .await?;
    let recorded: bool = sqlx::query_scalar("SELECT to_regclass('everruns_schema') IS NOT NULL")
        .fetch_one(&mut *transaction)
        .await?;
    if !recorded {
        sqlx::query("CREATE TABLE everruns_schema (version BIGINT NOT NULL PRIMARY KEY)")
            .execute(&mut *transaction)
            .await?;
    }
    let version: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(version), 0) FROM everruns_schema")
        .fetch_one(&mut *transaction)
        .await?;
    if version > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema {
            location: database.location.clone(),
            found: version,
            supported: SCHEMA_VERSION,
        }
        .into());
    }
    let done = usize::try_from(version).unwrap_or(0);
    for (version, &migration) in (1_i64..).zip(&MIGRATIONS).skip(done) {
        sqlx::raw_sql(migration).execute(&mut *transaction).await?;
        sqlx::query("INSERT INTO everruns_schema (version) VALUES ($1)")
            .bind(version)
            .execute(&mut *transaction)
            .await?;
    }
    Ok(transaction.commit().await?)
}
