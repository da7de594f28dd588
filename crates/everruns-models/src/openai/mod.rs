//! `OpenAI` and everything that speaks like it.

mod chat;
mod chat_request;
mod provider;
mod responses;
mod responses_request;

pub use provider::OpenAI;
