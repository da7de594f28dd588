//! The store in one SQLite file.

mod access;
mod append;
#[cfg(unix)]
mod backup;
mod database;
#[cfg(unix)]
mod draft;
mod host;
mod judge;
mod many;
mod migrate;
mod open;
mod probe;
#[cfg(unix)]
mod replace;
mod store;

pub use migrate::SCHEMA_VERSION;
pub use store::SqliteSessionStore;
