//! Traits and types of everruns. This crate does no I/O, starts no runtime and knows no vendor.
//!
//! | module | what it fixes |
//! |---|---|
//! | [`path`] | [`WorkspacePath`](path::WorkspacePath): the portable `/workspace` and `/roots/<name>` namespace |
//! | [`file_system`] | [`SessionFileSystem`](file_system::SessionFileSystem): the one way to a head's bytes |
//! | [`workspace`] | backends, workspaces, heads, bindings, checkpoints, diffs |
//! | [`environment`] | what one session executes on, beginning with one head |
//! | [`session`] | events, records, leases and the store contract |
//! | [`model`] | messages, tool calls and the provider contract |
//! | [`compute`] | commands on a head and what their isolation really is |
//!
//! Applications depend on the `everruns` facade, which re-exports what they need; implementations of a
//! backend, store or provider may depend on this crate alone.

pub mod clock;
pub mod compute;
pub mod entropy;
pub mod environment;
pub mod failpoint;
pub mod file_system;
pub mod ids;
pub mod model;
pub mod path;
pub mod session;
pub mod workspace;

/// An error of any kind, kept as the source of a typed one.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;
