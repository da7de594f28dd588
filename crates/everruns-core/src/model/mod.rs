//! The conversation with a model, in terms that every provider understands.

mod error;
mod event;
mod message;
mod messages;
mod provider;
mod request;
mod usage;

pub use error::{ModelError, ModelErrorKind};
pub use event::{ModelEvent, ModelStream, StopReason};
pub use message::{Message, ToolCall};
pub use messages::Messages;
pub use provider::ModelProvider;
pub use request::{ModelRequest, ToolSpec};
pub use usage::Usage;
