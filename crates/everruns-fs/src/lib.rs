//! The file stack of everruns: one way to the bytes of a head.
//!
//! Outermost first: [`SeededFileSystem`] → [`PolicyFileSystem`] → [`MountedFileSystem`] → the head's own file system,
//! on disk or in memory ([`MemoryFileSystem`]). Each is a
//! [`SessionFileSystem`](everruns_core::file_system::SessionFileSystem), so an application may leave out or add layers:
//! [`AuditFileSystem`] tells of every change, [`LimitsFileSystem`] bounds what is written.
//!
//! [`MemoryWorkspaceBackend`] and [`DirectoryWorkspaceBackend`] are the two backends that need no version control.

mod audit;
mod backend;
pub mod disk;
mod limits;
mod memory;
mod mounts;
pub mod patch;
mod policy;
pub mod search;
mod seeded;
mod swap_folder;

pub use audit::{AuditEvent, AuditFileSystem, AuditOperation, AuditOutcome, AuditSink};
pub use backend::{DirectoryWorkspaceBackend, MemoryCommit, MemoryWorkspaceBackend};
pub use limits::{FileLimits, FileUsage, LimitsFileSystem};
pub use memory::{MemoryFileSystem, MemoryOptions};
pub use mounts::{MountedFileSystem, RootAccess, RootError, WorkspaceRootSet};
pub use policy::{
    PolicyDecision, PolicyError, PolicyFileSystem, WorkspacePolicy, WorkspacePolicyBuilder,
};
pub use seeded::{SeedError, SeededFile, SeededFileSystem};
