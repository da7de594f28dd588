use crate::tool_api::ToolError;

/// Runs work that keeps a processor busy, such as comparing texts, where it holds up no other task.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolError::new("The tool was stopped before it ended; nothing was changed. Try once more.")
            .with_source(error)
    })
}
