use std::num::NonZeroUsize;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::Precondition;
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blocking::blocking;
use super::edit::{self, Replacement};
use super::encoding::{self, Decoded};
use super::text::Text;
use super::{arguments, diff, schema, stale};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Replaces exact texts in a file.
#[derive(Debug)]
pub(super) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file. It must have been read before.
    path: String,
    /// The replacements, one after the other. When one does not fit, none is made.
    edits: Vec<Edit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The text to replace, exactly as it is in the file, without line numbers.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// How often the old text is in the file; all of these places are changed. 1 when left out.
    expected_count: Option<NonZeroUsize>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Facts {
    /// The file.
    path: String,
    /// Its version now: the hash of its bytes.
    version: String,
    /// Its size in bytes.
    size: usize,
    /// How many places were changed.
    places: usize,
}

#[async_trait]
impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "edit_file",
            "Replaces exact texts in a file that you have read before. All edits are made, or none. Line ends, a byte \
             order mark and everything else stay as they are.",
        )
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<Facts>())
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let path = arguments::path(&wanted.path)?;
        if wanted.edits.is_empty() {
            return Err(ToolError::new("`edits` is empty: give at least one edit."));
        }
        let Some(now) = stale::present(context, &path).await? else {
            return Err(ToolError::new(format!(
                "{path} does not exist. Make it with write_file, or look for it with find_files."
            )));
        };
        stale::check_seen(context, &path, &now).await?;
        let Some(before) = encoding::decode(now.bytes()) else {
            return Err(ToolError::new(format!(
                "{path} is a binary file: it cannot be edited as text. Overwrite it with write_file, or leave it."
            )));
        };
        if !before.is_exact {
            return Err(ToolError::new(format!(
                "{path} holds bytes that are no UTF-16, which an edit would change. Overwrite it with write_file, or \
                 leave it."
            )));
        }
        let replacements: Vec<_> = wanted.edits.into_iter().map(replacement).collect();
        let edited = blocking(move || edit(&before, &replacements)).await??;
        let precondition = Precondition::Matches(now.version());
        let written = context
            .file_system()
            .write(&path, edited.bytes.clone(), precondition)
            .await;
        let version = stale::explained(context, &path, written).await?;
        context.seen().note(&path, version, &edited.bytes);
        let places = match edited.places {
            1 => "1 place".to_owned(),
            many => format!("{many} places"),
        };
        let text = format!("Changed {places} in {path}:\n{}", edited.diff);
        Ok(ToolOutput::new(text).with_data(&Facts {
            path: path.to_string(),
            version: version.to_string(),
            size: edited.bytes.len(),
            places: edited.places,
        }))
    }
}

/// What an edit makes of a file.
struct Edited {
    bytes: Bytes,
    places: usize,
    diff: String,
}

fn edit(before: &Decoded, replacements: &[Replacement]) -> Result<Edited, ToolError> {
    let mut text = Text::of(&before.bytes);
    let places = edit::apply(&mut text, replacements)?;
    let after = text.to_bytes();
    Ok(Edited {
        diff: diff::unified(&before.bytes, &after),
        places,
        bytes: encoding::encode(after, before.encoding),
    })
}

fn replacement(edit: Edit) -> Replacement {
    Replacement {
        old: edit.old_text,
        new: edit.new_text,
        count: edit.expected_count.map_or(1, NonZeroUsize::get),
    }
}
