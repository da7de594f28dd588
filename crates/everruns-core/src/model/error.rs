use std::time::Duration;

use crate::BoxError;

/// What went wrong with a model request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// A setting such as a key is missing or malformed.
    Configuration,
    /// The key is not accepted.
    Authentication,
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded or failed on its side.
    Unavailable,
    /// The provider could not be reached, or the connection broke.
    Connection,
    /// The stream ended without its end.
    Truncated,
    /// The request is not acceptable, for instance an unknown model.
    InvalidRequest,
    /// The conversation is too long for the model.
    ContextTooLong,
    /// The provider's answer is not understood.
    Protocol,
}

/// A failed model request.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// What went wrong.
    pub kind: ModelErrorKind,
    /// What went wrong and what to do, for people; it never holds a key.
    pub message: String,
    /// How long the provider asks to wait before another try.
    pub retry_after: Option<Duration>,
    /// What caused it.
    #[source]
    pub source: Option<BoxError>,
}

impl ModelError {
    /// An error of `kind`.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            source: None,
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds how long to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind,
            ModelErrorKind::RateLimited
                | ModelErrorKind::Unavailable
                | ModelErrorKind::Connection
                | ModelErrorKind::Truncated
        )
    }
}
