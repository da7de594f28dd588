use std::fmt::Write as _;

use bytes::Bytes;
use everruns_core::file_system::{ContentVersion, FileContent, FileSystemError, ReadRange};
use everruns_core::path::WorkspacePath;
use similar::TextDiff;

use super::errors;
use super::text::is_binary;
use crate::tool_api::{ToolContext, ToolError};

/// Lines of a difference that are shown.
const MAX_DIFF_LINES: usize = 60;

/// A file as it is now; `None` when there is none.
pub(super) async fn present(
    context: &ToolContext,
    path: &WorkspacePath,
) -> Result<Option<FileContent>, ToolError> {
    match context.file_system().read(path, ReadRange::ALL).await {
        Ok(content) => Ok(Some(content)),
        Err(FileSystemError::NotFound { .. }) => Ok(None),
        Err(error) => Err(errors::explain(error)),
    }
}

/// Makes sure that the session has read the file as it is now.
pub(super) fn check_seen(
    context: &ToolContext,
    path: &WorkspacePath,
    now: &FileContent,
) -> Result<(), ToolError> {
    let Some(seen) = context.seen().get(path) else {
        return Err(ToolError::new(format!(
            "{path} exists, and you have not read it in this session. Nothing was changed. Read it with read_file, \
             then repeat the change."
        )));
    };
    if seen.version == now.version {
        return Ok(());
    }
    let mut message = conflict(path, now.version);
    if let Some(before) = &seen.bytes {
        message.push_str(&difference(before, &now.bytes));
    }
    Err(ToolError::new(message))
}

/// A change that came between reading and writing.
pub(super) fn explain(error: FileSystemError) -> ToolError {
    match &error {
        FileSystemError::Conflict {
            path,
            current: Some(current),
            ..
        } => ToolError::new(conflict(path, *current)).with_source(error),
        _ => errors::explain(error),
    }
}

fn conflict(path: &WorkspacePath, current: ContentVersion) -> String {
    format!(
        "{path} has changed since you read it; it is at version {} now. Nothing was written. Read it again with \
         read_file, then repeat the change on what is there.",
        current.short()
    )
}

/// What changed, short, or nothing for what is no text.
fn difference(before: &Bytes, now: &Bytes) -> String {
    if is_binary(before) || is_binary(now) {
        return String::new();
    }
    let diff = unified(before, now);
    if diff.is_empty() {
        return String::new();
    }
    format!("\nWhat changed since:\n{diff}")
}

/// A unified difference of two texts, cut after some lines.
pub(super) fn unified(before: &[u8], now: &[u8]) -> String {
    let (before, now) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(now),
    );
    let diff = TextDiff::from_lines(before.as_ref(), now.as_ref());
    let text = diff
        .unified_diff()
        .context_radius(2)
        .missing_newline_hint(false)
        .to_string();
    let mut shown = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref().take(MAX_DIFF_LINES) {
        shown.push_str(line);
        shown.push('\n');
    }
    let more = lines.count();
    if more > 0 {
        // Writing to a text cannot fail.
        let _infallible = writeln!(shown, "[{more} more lines]");
    }
    shown
}
