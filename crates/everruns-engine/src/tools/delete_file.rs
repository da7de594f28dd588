use async_trait::async_trait;
use everruns_core::file_system::{FileKind, Precondition, Removal};
use everruns_core::model::ToolSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kind::Kind;
use super::{arguments, errors, schema, stale};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Deletes a file or folder.
#[derive(Debug)]
pub(super) struct DeleteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file, link or empty folder.
    path: String,
    /// Deletes a folder with all that is in it.
    #[serde(default)]
    recursive: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Facts {
    /// What was deleted.
    path: String,
    /// What it was.
    kind: Kind,
}

#[async_trait]
impl Tool for DeleteFile {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>(
            "delete_file",
            "Deletes a file, a link (not what it leads to) or a folder.",
        )
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<Facts>())
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let path = arguments::path(&wanted.path)?;
        let files = context.file_system();
        let kind = files.stat(&path).await.map_err(errors::explain)?.kind;
        // What the session has read must still be what is deleted; what it never read holds nothing it could miss.
        let precondition = match context.seen().get(&path) {
            Some(seen) if kind == FileKind::File => Precondition::Matches(seen.version),
            None if kind == FileKind::File => {
                stale::check_not_forgotten(context, &path)?;
                Precondition::Any
            }
            _ => Precondition::Any,
        };
        let removal = if wanted.recursive && kind == FileKind::Directory {
            stale::check_all_seen_below(context, &path).await?;
            Removal::Recursive
        } else {
            Removal::Entry
        };
        let removed = files.remove(&path, removal, precondition).await;
        stale::explained(context, &path, removed).await?;
        context.seen().forget(&path);
        Ok(
            ToolOutput::new(format!("Deleted {path}.")).with_data(&Facts {
                path: path.to_string(),
                kind: kind.into(),
            }),
        )
    }
}
