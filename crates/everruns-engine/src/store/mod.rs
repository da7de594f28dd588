//! Sessions that are kept in memory and end with the process.

mod bindings;
mod matching;
mod memory;
mod record;

pub use memory::InMemorySessionStore;
