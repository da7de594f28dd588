//! One local directory, shared by everyone who uses it.

mod place;
mod record;
mod resource;
mod workspace_backend;

pub use workspace_backend::DirectoryWorkspaceBackend;
