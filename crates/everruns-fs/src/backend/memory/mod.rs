//! Workspaces in memory: every head operation, and nothing that outlives the process.

mod checkpoints;
mod create;
mod diff;
mod hunks;
mod lifecycle;
mod merge;
mod resource;
mod state;
mod workspace_backend;

pub use workspace_backend::MemoryWorkspaceBackend;
