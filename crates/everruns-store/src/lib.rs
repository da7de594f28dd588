//! Session stores of everruns: SQLite and PostgreSQL.
//!
//! | feature | store |
//! |---|---|
//! | `sqlite` (default) | `SqliteSessionStore`: one file, opened by any number of processes of one machine |
//! | `postgres` | `PostgresSessionStore`: one database, shared by any number of machines |
//!
//! Both keep the four tables `sessions`, `workspace_bindings`, `events` and `leases` with the same columns and the
//! same meaning, and pass the same suite. What is the same is here once: `operations` (what a store does) on `driver` (what
//! that asks of a database), with `rows` (row ↔ record), `rules` (decisions on what was read), `appends` (what is written
//! together), `sql` (statements) and `attempt` (retries). A driver's folder has what is its own.
//!
//! # What is absent
//!
//! No caches: every read asks the database. No background tasks: leases expire by the `now` that a caller presents.
//! No deletion apart from `SessionStore::delete`.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod appends;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod attempt;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod driver;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod operations;
mod retry;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod rows;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod rules;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod task;

#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use retry::RetryPolicy;

#[cfg(feature = "postgres")]
pub use postgres::PostgresSessionStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteSessionStore;
