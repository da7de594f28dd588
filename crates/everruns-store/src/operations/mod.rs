//! What a store does, once for all databases: each file is an operation or a few that belong together.

pub(crate) mod bind;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod events;
pub(crate) mod fork;
pub(crate) mod lease;
pub(crate) mod list;
mod store;

pub(crate) use store::session_store;
