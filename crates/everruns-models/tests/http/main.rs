//! The providers, each on a real HTTP server on loopback that speaks its wire format.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(feature = "openai")]
mod openai;
mod support;
