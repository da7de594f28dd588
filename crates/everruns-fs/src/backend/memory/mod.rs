//! Workspaces in memory: every head operation, and nothing that outlives the process.

mod checkpoints;
#[cfg(test)]
mod costs;
mod create;
mod diff;
mod heads;
mod hunks;
mod kept;
mod lifecycle;
mod lineage;
mod merge;
mod merged;
mod named;
mod patch;
mod prune;
mod reference;
mod resource;
mod state;
mod workspace_backend;

pub use workspace_backend::MemoryWorkspaceBackend;
