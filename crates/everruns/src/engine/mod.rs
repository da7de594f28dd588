//! The engine, with the constructors that need a store.

mod builder;
mod handle;

pub use builder::EngineBuilder;
pub use handle::Engine;
