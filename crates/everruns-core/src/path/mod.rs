//! The portable namespace of a session: `/workspace/…` is its head, `/roots/<name>/…` an additional root.

mod error;
mod parse;
mod protected;
mod workspace_path;

pub use error::PathError;
pub use parse::{MAX_COMPONENT_BYTES, MAX_DEPTH, MAX_PATH_BYTES};
pub use protected::is_git_internal_name;
pub use workspace_path::{Mount, RootName, WorkspacePath};
