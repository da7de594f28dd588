use std::fmt::Write as _;

use async_trait::async_trait;
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tree::{self, Tree};
use super::{arguments, schema};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// The deepest tree that is shown at once.
const MAX_DEPTH: usize = 10;

/// Lists a folder.
#[derive(Debug)]
pub(super) struct ListDirectory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The folder; /workspace when left out.
    path: Option<String>,
    /// How many levels to show: 1, which is meant when left out, for what is directly in the folder, up to 10.
    depth: Option<usize>,
    /// Goes on after this entry of a listing before.
    after: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Facts {
    /// The folder.
    path: String,
    /// How many entries were shown.
    entries: usize,
    /// The `after` that goes on; null when all was shown.
    next: Option<String>,
}

#[async_trait]
impl Tool for ListDirectory {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "list_directory",
            "Lists what is in a folder, with `depth` also in the folders below: folders end with /, links with @, \
             files have their size in bytes. Use find_files to look for names.",
        )
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<Facts>())
    }

    fn is_read_only(&self) -> bool {
        true
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let folder = arguments::folder(wanted.path.as_deref())?;
        let depth = wanted.depth.unwrap_or(1).clamp(1, MAX_DEPTH);
        let Tree {
            lines: mut shown,
            entries,
            next,
        } = tree::show(context, &folder, depth, wanted.after.as_deref()).await?;
        if let Some(next) = &next {
            // Writing to a text cannot fail.
            let _infallible = writeln!(
                shown,
                "[there are more: go on with after {}]",
                Value::from(next.as_str())
            );
        }
        if shown.is_empty() {
            shown.push_str("[the folder is empty]");
        }
        Ok(ToolOutput::new(shown).with_data(&Facts {
            path: folder.to_string(),
            entries,
            next,
        }))
    }
}
