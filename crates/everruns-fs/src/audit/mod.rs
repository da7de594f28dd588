//! A record of every change that is made, or tried, through a file system.

mod event;
mod file_system;
mod pending;
mod sink;

pub use event::{AuditEvent, AuditOperation, AuditOutcome};
pub use file_system::AuditFileSystem;
pub use sink::AuditSink;
