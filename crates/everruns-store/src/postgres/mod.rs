//! The store in one PostgreSQL database.

mod append;
mod connect;
mod database;
mod judge;
mod lock;
mod migrate;
mod store;

pub use migrate::SCHEMA_VERSION;
pub use store::PostgresSessionStore;
