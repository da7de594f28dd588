//! Model providers of everruns: `OpenAI`, Anthropic, compatible endpoints, and a scripted one.
//!
//! [`Simulated`] is always here. It needs no key and no network, and plays what it was told to. `OpenAI` and
//! `Anthropic` are behind the features of their names.

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod http;
#[cfg(feature = "openai")]
mod openai;
mod simulated;

#[cfg(feature = "anthropic")]
pub use anthropic::Anthropic;
#[cfg(feature = "openai")]
pub use openai::OpenAI;
pub use simulated::{Simulated, SimulatedStep};
