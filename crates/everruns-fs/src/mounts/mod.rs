//! Additional roots beside the head: `/roots/<name>`.

mod error;
mod file_system;
mod moves;
mod overlap;
mod rebase;
mod root_set;
mod to_its_end;

pub use error::RootError;
pub use file_system::MountedFileSystem;
pub use root_set::{RootAccess, WorkspaceRootSet};
