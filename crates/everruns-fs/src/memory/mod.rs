//! Files in memory: a persistent tree whose parts are shared, so that a fork costs nothing.

mod changes;
mod checks;
mod children;
mod edit;
mod file_system;
mod name;
mod node;
mod options;
mod snapshot;
mod source;

pub(crate) use changes::{TreeChange, changes};
pub(crate) use edit::{put, take};
pub use file_system::MemoryFileSystem;
pub(crate) use node::{File, Node};
pub use options::MemoryOptions;
pub(crate) use snapshot::Snapshot;
