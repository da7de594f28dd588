//! As much of JSON schema as our own schemas use; an unknown word fails, so that nothing is passed over.

use serde_json::{Map, Value};

/// Panics unless `value` is what `schema` describes.
pub(crate) fn assert_fits(value: &Value, schema: &Value) {
    if let Err(reason) = fits(value, schema) {
        panic!("{value:#} does not fit {schema:#}: {reason}");
    }
}

pub(crate) fn fits(value: &Value, schema: &Value) -> Result<(), String> {
    let schema = schema.as_object().ok_or("the schema is no object")?;
    for (word, wanted) in schema {
        match word.as_str() {
            "description" | "default" => {}
            "type" => has_type(value, wanted)?,
            "enum" | "const" => is_one_of(value, wanted)?,
            "minimum" => {
                let least = wanted.as_f64().ok_or("a minimum is no number")?;
                if value.as_f64().is_some_and(|number| number < least) {
                    return Err(format!("{value} is less than {least}"));
                }
            }
            "properties" | "required" | "additionalProperties" => {
                if let Some(object) = value.as_object() {
                    properties(object, schema)?;
                }
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    fits(item, wanted)?;
                }
            }
            "anyOf" | "oneOf" => {
                let mut ways = wanted.as_array().ok_or("no ways")?.iter();
                if !ways.any(|way| fits(value, way).is_ok()) {
                    return Err(format!("{value} fits none of {wanted}"));
                }
            }
            unknown => return Err(format!("`{unknown}` is not known here")),
        }
    }
    Ok(())
}

fn has_type(value: &Value, wanted: &Value) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let one = wanted.as_str().into_iter();
    let names = one.chain(
        wanted
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    );
    if names.into_iter().any(is) {
        return Ok(());
    }
    Err(format!("{value} is not of type {wanted}"))
}

fn is_one_of(value: &Value, wanted: &Value) -> Result<(), String> {
    if value == wanted || wanted.as_array().is_some_and(|all| all.contains(value)) {
        return Ok(());
    }
    Err(format!("{value} is none of {wanted}"))
}

fn properties(object: &Map<String, Value>, schema: &Map<String, Value>) -> Result<(), String> {
    let known = schema.get("properties").and_then(Value::as_object);
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !name.as_str().is_some_and(|name| object.contains_key(name)) {
            return Err(format!("{name} is missing"));
        }
    }
    for (name, value) in object {
        match known.and_then(|known| known.get(name)) {
            Some(schema) => fits(value, schema).map_err(|reason| format!("{name}: {reason}"))?,
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                return Err(format!("{name} is unknown"));
            }
            None => {}
        }
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_seen() {
    let schema = serde_json::json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {"a": {"type": ["integer", "null"], "minimum": 0}, "b": {"enum": ["x"]}}
    });
    let check = |value: Value| fits(&value, &schema).is_ok();
    assert!(check(serde_json::json!({"a": 1, "b": "x"})) && check(serde_json::json!({"a": null})));
    assert!(!check(serde_json::json!({"b": "x"})) && !check(serde_json::json!({"a": "1"})));
    assert!(!check(serde_json::json!({"a": -1})) && !check(serde_json::json!({"a": 1, "b": "y"})));
    assert!(!check(serde_json::json!({"a": 1, "c": 1})) && !check(serde_json::json!([])));
    assert!(fits(&Value::Null, &serde_json::json!({"pattern": "x"})).is_err());
}
