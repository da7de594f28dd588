use everruns_core::file_system::{
    ContentVersion, FileContent, FileKind, FileSystemError, ReadRange, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;

use super::blocking::blocking;
use super::{diff, errors};
use crate::tool_api::{ToolContext, ToolError};

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
pub(super) async fn check_seen(
    context: &ToolContext,
    path: &WorkspacePath,
    now: &FileContent,
) -> Result<(), ToolError> {
    let Some(seen) = context.seen().get(path) else {
        return Err(unread(context, path));
    };
    if seen.version == now.version() {
        return Ok(());
    }
    let mut message = conflict(path, now.version());
    if let Some(before) = seen.bytes {
        let now = now.bytes().clone();
        message.push_str(&blocking(move || diff::since(&before, &now)).await?);
    }
    Err(ToolError::new(message))
}

/// Makes sure that what the session has read below `folder`, as far as it is still there, is as it was read.
pub(super) async fn check_all_seen_below(
    context: &ToolContext,
    folder: &WorkspacePath,
) -> Result<(), ToolError> {
    for path in context.seen().below(folder) {
        // Whatever else is there now was never read.
        if let Ok(Some(now)) = present(context, &path).await {
            check_seen(context, &path, &now).await?;
        }
    }
    if !context.seen().has_forgotten() {
        return Ok(());
    }
    let mut open = vec![folder.clone()];
    while let Some(folder) = open.pop() {
        let entries = context.file_system().list_all(&folder).await;
        for entry in entries.map_err(errors::explain)? {
            let path = folder
                .join(&entry.name)
                .map_err(|error| errors::explain(error.into()))?;
            match entry.stat.kind {
                FileKind::Directory => open.push(path),
                FileKind::File => check_not_forgotten(context, &path)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Makes sure that a file whose version is not known was never read.
pub(super) fn check_not_forgotten(
    context: &ToolContext,
    path: &WorkspacePath,
) -> Result<(), ToolError> {
    if context.seen().may_have_forgotten(path) {
        return Err(unread(context, path));
    }
    Ok(())
}

fn unread(context: &ToolContext, path: &WorkspacePath) -> ToolError {
    let why = if context.seen().may_have_forgotten(path) {
        "it is not known any more which version of it you have read"
    } else {
        "you have not read it in this session"
    };
    ToolError::new(format!(
        "{path} exists, and {why}. Nothing was changed. Read it with read_file, then repeat the change."
    ))
}

/// The result of a change; when another change came between reading and writing, with what that one was.
pub(super) async fn explained<T>(
    context: &ToolContext,
    path: &WorkspacePath,
    result: Result<T, FileSystemError>,
) -> Result<T, ToolError> {
    let error = match result {
        Ok(done) => return Ok(done),
        Err(error) => error,
    };
    let FileSystemError::Conflict {
        current: Some(current),
        ..
    } = &error
    else {
        return Err(errors::explain(error));
    };
    let mut message = conflict(path, *current);
    if let Some(before) = context.seen().get(path).and_then(|seen| seen.bytes)
        && let Ok(Some(now)) = present(context, path).await
    {
        message.push_str(&blocking(move || diff::since(&before, now.bytes())).await?);
    }
    Err(ToolError::new(message).with_source(error))
}

fn conflict(path: &WorkspacePath, current: ContentVersion) -> String {
    format!(
        "{path} has changed since you read it; it is at version {} now. Nothing was written. Read it again with \
         read_file, then repeat the change on what is there.",
        current.short()
    )
}
