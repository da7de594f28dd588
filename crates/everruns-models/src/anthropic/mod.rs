//! Anthropic's models.

mod messages;
mod provider;
mod request;

pub use provider::Anthropic;
