//! The backends that need no version control.

mod directory;
mod memory;

pub use directory::DirectoryWorkspaceBackend;
pub use memory::{MemoryCommit, MemoryWorkspaceBackend};
