use everruns_core::model::ToolSpec;
use everruns_core::path::WorkspacePath;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{errors, schema};
use crate::tool_api::ToolError;

/// What a model is told of a tool whose arguments are `A`.
pub(super) fn spec<A: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: schema::of_input::<A>(),
    }
}

/// The arguments as a tool's own type.
pub(super) fn parse<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    serde_json::from_value(arguments).map_err(|error| {
        ToolError::new(format!(
            "The arguments do not fit the tool's schema: {error}. Nothing was done; call it again with arguments \
             that fit."
        ))
    })
}

/// A path as a model gives it.
pub(super) fn path(text: &str) -> Result<WorkspacePath, ToolError> {
    WorkspacePath::parse(text).map_err(|error| errors::explain_path(&error))
}

/// A folder as a model gives it; the top of the head when it gives none.
pub(super) fn folder(text: Option<&str>) -> Result<WorkspacePath, ToolError> {
    text.map_or_else(|| Ok(WorkspacePath::root()), path)
}
