use everruns_core::model::ToolSpec;
use everruns_core::path::WorkspacePath;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool_api::ToolError;

/// What a model is told of a tool whose arguments are `A`.
pub(super) fn spec<A: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    let mut settings = SchemaSettings::default();
    // Not every provider follows references.
    settings.inline_subschemas = true;
    let mut input_schema = settings
        .into_generator()
        .into_root_schema_for::<A>()
        .to_value();
    if let Value::Object(schema) = &mut input_schema {
        schema.remove("$schema");
        schema.remove("title");
    }
    drop_formats(&mut input_schema);
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema,
    }
}

/// Drops names of Rust's number types, which are no formats of JSON schema.
fn drop_formats(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("format").is_some_and(Value::is_string) {
                map.remove("format");
            }
            map.values_mut().for_each(drop_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_formats),
        _ => {}
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
    WorkspacePath::parse(text).map_err(|error| ToolError::new(format!("{error}.")))
}

/// A folder as a model gives it; the top of the head when it gives none.
pub(super) fn folder(text: Option<&str>) -> Result<WorkspacePath, ToolError> {
    text.map_or_else(|| Ok(WorkspacePath::root()), path)
}
