//! What a model may call.

mod context;
mod error;
mod forgotten;
mod output;
mod seen;

use std::sync::Arc;

use async_trait::async_trait;
use everruns_core::model::ToolSpec;
use serde_json::Value;

pub use context::ToolContext;
pub use error::ToolError;
pub use output::ToolOutput;
pub(crate) use seen::SeenFiles;

/// Something that a model may call.
///
/// A call is durable in the session's events before it is made; its outcome is recorded after it. A process that
/// ends between the two leaves an outcome that is recorded as unknown, and the call is not repeated.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told of it. The same at every call.
    fn spec(&self) -> ToolSpec;

    /// The JSON schema of [`ToolOutput::data`]; `None` when calls give none. The same at every call.
    fn output_schema(&self) -> Option<Value> {
        None
    }

    /// Whether calls change nothing, so that several may run at once.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Does what `arguments` ask for. They are a JSON object that the tool itself checks against its schema.
    ///
    /// The future is dropped when the turn is cancelled; a tool that must finish something first looks at
    /// [`ToolContext::cancellation`] and works in a task of its own.
    ///
    /// # Errors
    /// [`ToolError`], whose text goes to the model and says what to do next. The turn goes on.
    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError>;
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> ToolSpec {
        (**self).spec()
    }

    fn output_schema(&self) -> Option<Value> {
        (**self).output_schema()
    }

    fn is_read_only(&self) -> bool {
        (**self).is_read_only()
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        (**self).call(context, arguments).await
    }
}
