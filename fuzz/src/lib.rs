//! What holds of every input, whatever its bytes.

pub mod edit;
pub mod path;
pub mod policy;

mod sources;

pub use sources::edited;

// What those sources name.
mod tool_api {
    pub(crate) use everruns_engine::ToolError;
}
