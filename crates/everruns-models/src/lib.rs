//! Model providers of everruns: `OpenAI`, Anthropic, compatible endpoints, and a scripted one.
//!
//! [`Simulated`] is always here. It needs no key and no network, and plays what it was told to.

mod simulated;

pub use simulated::{Simulated, SimulatedStep};
