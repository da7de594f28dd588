use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::Precondition;
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{arguments, schema, stale};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Writes a whole file.
#[derive(Debug)]
pub(super) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file. Missing folders are made.
    path: String,
    /// Its whole new content.
    content: String,
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
    /// Whether it is new.
    made: bool,
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "write_file",
            "Writes a whole file: a new one, or in the place of one that you have read before. Use edit_file to change \
             parts of a file.",
        )
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<Facts>())
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let path = arguments::path(&wanted.path)?;
        let present = stale::present(context, &path).await?;
        let precondition = match &present {
            None => Precondition::Absent,
            Some(now) => {
                stale::check_seen(context, &path, now).await?;
                Precondition::Matches(now.version())
            }
        };
        let bytes = Bytes::from(wanted.content);
        let written = context
            .file_system()
            .write(&path, bytes.clone(), precondition)
            .await;
        let version = stale::explained(context, &path, written).await?;
        context.seen().note(&path, version, &bytes);
        let done = if present.is_some() {
            "Overwrote"
        } else {
            "Made"
        };
        let text = format!("{done} {path}, {} bytes.", bytes.len());
        Ok(ToolOutput::new(text).with_data(&Facts {
            path: path.to_string(),
            version: version.to_string(),
            size: bytes.len(),
            made: present.is_none(),
        }))
    }
}
