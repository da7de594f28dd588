use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::Precondition;
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::blocking::blocking;
use super::edit::{self, Replacement};
use super::text::{Text, is_binary};
use super::{arguments, diff, stale};
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
    expected_count: Option<usize>,
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
        if is_binary(&now.bytes) {
            return Err(ToolError::new(format!(
                "{path} is a binary file: it cannot be edited as text."
            )));
        }
        let replacements: Vec<_> = wanted.edits.into_iter().map(replacement).collect();
        let before = now.bytes.clone();
        let edited = blocking(move || edit(&before, &replacements)).await??;
        let version = context
            .file_system()
            .write(
                &path,
                edited.bytes.clone(),
                Precondition::Matches(now.version),
            )
            .await
            .map_err(stale::explain)?;
        context.seen().note(&path, version, &edited.bytes);
        let places = match edited.places {
            1 => "1 place".to_owned(),
            many => format!("{many} places"),
        };
        Ok(format!("Changed {places} in {path}:\n{}", edited.diff).into())
    }
}

/// What an edit makes of a file.
struct Edited {
    bytes: Bytes,
    places: usize,
    diff: String,
}

fn edit(before: &Bytes, replacements: &[Replacement]) -> Result<Edited, ToolError> {
    let mut text = Text::of(before);
    let places = edit::apply(&mut text, replacements)?;
    let bytes = text.to_bytes();
    Ok(Edited {
        diff: diff::unified(before, &bytes),
        places,
        bytes,
    })
}

fn replacement(edit: Edit) -> Replacement {
    Replacement {
        old: edit.old_text,
        new: edit.new_text,
        count: edit.expected_count.unwrap_or(1),
    }
}
