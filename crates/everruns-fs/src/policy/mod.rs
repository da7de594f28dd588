//! What a session may read and change, whatever file system it is over.
//!
//! A [`WorkspacePolicy`] only judges paths; [`PolicyFileSystem`] makes a file system obey it.

mod below;
mod builder;
mod decision;
mod error;
mod explain;
mod file_system;
mod globs;
mod layer;
mod links;
mod listing;
mod protected;
mod search;
mod workspace_policy;

pub use builder::WorkspacePolicyBuilder;
pub use decision::PolicyDecision;
pub use error::PolicyError;
pub use file_system::PolicyFileSystem;
pub use workspace_policy::WorkspacePolicy;
