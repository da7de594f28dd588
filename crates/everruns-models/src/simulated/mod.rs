//! A model that plays a script: for tests, demonstrations and examples.

mod play;
mod provider;
mod script;
mod step;

pub use script::Simulated;
pub use step::SimulatedStep;
