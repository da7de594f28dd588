//! The store in one PostgreSQL database.

mod append;
mod bind;
mod connect;
mod create;
mod database;
mod delete;
mod events;
mod fork;
mod judge;
mod lease;
mod list;
mod lock;
mod migrate;
mod store;

pub use migrate::SCHEMA_VERSION;
pub use store::PostgresSessionStore;
