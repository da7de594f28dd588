//! Agents, sessions and the turn loop of everruns, with the file tools.
//!
//! | module | what it holds |
//! |---|---|
//! | [`agent`] | [`Agent`]: behaviour only, immutable and cheap to clone |
//! | [`engine`] | [`Engine`]: makes and resumes sessions over one store |
//! | [`session`] | [`Session`]: one conversation on one head |
//! | [`transfer`] | sessions as text, for debugging |
//! | [`tool_api`] | [`Tool`]: what a model may call |
//! | [`store`] | [`InMemorySessionStore`]: sessions that end with the process |
//!
//! With the feature `tools`, every agent has the file tools: `read_file`, `write_file`, `edit_file`, `list_directory`,
//! `find_files`, `grep`, `move_file` and `delete_file`.
//!
//! The crate knows no vendor: models come as a `ModelProvider`, heads from a `WorkspaceBackend`, and records go
//! to a `SessionStore`. Nothing executes for a session before its binding is durable, and nothing is deleted by
//! dropping a value.

pub mod agent;
pub mod engine;
pub mod session;
pub mod store;
pub mod tool_api;
#[cfg(feature = "tools")]
mod tools;
pub mod transfer;
mod turn;

pub use agent::{Agent, AgentBuilder, BuildError, CheckpointPolicy};
pub use engine::{Engine, EngineBuilder, ResumeError};
pub use session::{PendingTurn, Session, SessionEnvironmentError, SessionError, Turn};
pub use store::InMemorySessionStore;
pub use tool_api::{Tool, ToolContext, ToolError, ToolOutput};
