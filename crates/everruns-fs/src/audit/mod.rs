//! A record of every change that is made, or tried, through a file system.

mod change;
mod file_system;
mod pending;
mod sink;

pub use change::{FileChange, FileChangeKind, FileChangeOutcome};
pub use file_system::AuditFileSystem;
pub use sink::AuditSink;
