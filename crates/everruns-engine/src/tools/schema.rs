use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::Value;

/// The schema of what a model gives.
pub(super) fn of_input<T: JsonSchema>() -> Value {
    schema::<T>(Contract::Deserialize)
}

/// The schema of what a tool tells programs.
pub(super) fn of_output<T: JsonSchema>() -> Value {
    schema::<T>(Contract::Serialize)
}

fn schema<T: JsonSchema>(contract: Contract) -> Value {
    let mut settings = SchemaSettings::default();
    settings.contract = contract;
    // Not every provider follows references.
    settings.inline_subschemas = true;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Value::Object(schema) = &mut schema {
        schema.remove("$schema");
        schema.remove("title");
    }
    drop_formats(&mut schema);
    schema
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
