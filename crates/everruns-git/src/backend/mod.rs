//! The backend and its heads, as the core sees them.

mod builder;
mod file_system;
mod local;
mod payload;
mod resource;

pub use builder::LocalGitWorkspaceBuilder;
pub use local::LocalGitWorkspace;
