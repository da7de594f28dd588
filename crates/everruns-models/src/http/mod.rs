//! What the HTTP providers share: the client, the event stream, failures, tool calls that come in pieces.

mod base_url;
mod calls;
mod client;
mod failure;
mod key;
mod sse;
mod stream;

pub(crate) use base_url::BaseUrl;
pub(crate) use calls::Calls;
#[cfg(feature = "openai")]
pub(crate) use calls::arguments;
#[cfg(feature = "openai")]
pub(crate) use client::Refusal;
pub(crate) use client::{HttpClient, secret_header};
pub(crate) use failure::{Failure, protocol};
pub(crate) use key::ApiKey;
pub(crate) use stream::{Decoder, Step};
