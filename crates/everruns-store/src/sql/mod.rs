//! Statements that both databases understand, by table.
//!
//! SQLite reads `$1` as PostgreSQL does, so one text serves both; what differs (locks, schema) is in the driver.

pub(crate) mod bindings;
pub(crate) mod events;
pub(crate) mod leases;
pub(crate) mod sessions;
