//! Workspaces in memory: every head operation, and nothing that outlives the process.

mod checkpoints;
mod commit;
mod commits;
#[cfg(test)]
mod costs;
mod create;
mod diff;
mod heads;
mod hunks;
mod kept;
mod lifecycle;
mod lineage;
mod log;
mod merge;
mod named;
mod note;
mod patch;
mod prune;
mod reference;
mod resource;
mod selection;
mod state;
mod status;
mod three_way;
mod update;
mod workspace_backend;

pub use log::MemoryCommit;
pub use workspace_backend::MemoryWorkspaceBackend;
