//! Files in memory: a persistent tree whose parts are shared, so that a fork costs nothing.

mod apart;
mod below;
mod block;
mod changes;
mod checks;
mod children;
mod digest;
mod edit;
mod entries;
mod file_system;
mod folder;
mod looked;
mod name;
mod node;
mod options;
mod reach;
mod source;
mod tree;

pub(crate) use changes::{TreeChange, changes};
pub(crate) use digest::DigestKey;
pub use file_system::MemoryFileSystem;
pub(crate) use node::{File, Node};
pub use options::MemoryOptions;
pub(crate) use tree::Tree;
