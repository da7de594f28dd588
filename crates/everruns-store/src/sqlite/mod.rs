//! The store in one SQLite file.

mod access;
mod append;
#[cfg(unix)]
mod backup;
mod bind;
mod create;
mod database;
mod delete;
#[cfg(unix)]
mod draft;
mod events;
mod fork;
mod host;
mod judge;
mod lease;
mod list;
mod many;
mod migrate;
mod open;
mod probe;
#[cfg(unix)]
mod replace;
mod store;

pub use migrate::SCHEMA_VERSION;
pub use store::SqliteSessionStore;
