//! The file tools, added to every agent.

use std::sync::Arc;

use crate::tool_api::Tool;

/// All file tools.
pub(crate) fn file_tools() -> Vec<Arc<dyn Tool>> {
    Vec::new()
}
