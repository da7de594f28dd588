use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::{ModelError, ModelRequest, ModelStream};

/// Reaches models.
///
/// Implementations do not retry; the turn loop does, as [`ModelError`] advises.
#[async_trait]
pub trait ModelProvider: Send + Sync + Debug {
    /// The provider's name, such as `openai`.
    fn name(&self) -> &str;

    /// Asks the model and streams its answer. Dropping the stream, or the future before it, stops the request.
    ///
    /// # Errors
    /// [`ModelError`] with its kind; errors after the first byte come in the stream.
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
}

#[async_trait]
impl<T: ModelProvider + ?Sized> ModelProvider for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        (**self).stream(request).await
    }
}
