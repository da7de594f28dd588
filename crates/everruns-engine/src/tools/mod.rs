//! The file tools, added to every agent.
//!
//! They see paths of the portable namespace and text; the stack below them knows only bytes. A tool that changes an
//! existing file presents the version that the session last read, so that nothing is overwritten unseen.

mod arguments;
mod blocking;
mod delete_file;
mod diff;
mod edit;
mod edit_file;
mod encoding;
mod errors;
mod find_files;
mod grep;
#[cfg(test)]
mod kept_inputs;
mod kind;
mod line_ends;
mod list_directory;
mod move_file;
mod nearest;
mod read_file;
mod schema;
mod search;
mod show;
mod stale;
mod text;
mod tree;
mod write_file;

use std::sync::Arc;

use crate::tool_api::Tool;

/// All file tools.
pub(crate) fn file_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read_file::ReadFile),
        Arc::new(write_file::WriteFile),
        Arc::new(edit_file::EditFile),
        Arc::new(list_directory::ListDirectory),
        Arc::new(find_files::FindFiles),
        Arc::new(grep::Grep),
        Arc::new(move_file::MoveFile),
        Arc::new(delete_file::DeleteFile),
    ]
}
