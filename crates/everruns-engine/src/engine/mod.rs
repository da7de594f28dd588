//! Makes sessions over one store, and resumes them.

mod builder;
pub(crate) mod default_head;
mod delete;
mod error;
mod handle;
mod open_fork;
mod parts;
mod reconcile;

pub use builder::EngineBuilder;
pub use delete::DeleteError;
pub use error::ResumeError;
pub use handle::Engine;
pub(crate) use parts::EngineParts;
