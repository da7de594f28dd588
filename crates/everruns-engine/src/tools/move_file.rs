use async_trait::async_trait;
use everruns_core::file_system::{FileKind, FileSystemError, Replace};
use everruns_core::model::ToolSpec;
use everruns_core::path::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{arguments, errors, schema, stale};
use crate::tool_api::{Tool, ToolContext, ToolError, ToolOutput};

/// Moves a file or folder.
#[derive(Debug)]
pub(super) struct MoveFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file or folder.
    from: String,
    /// Its new path, not the folder to put it in. Missing folders are made.
    to: String,
    /// Lets it take the place of a file that you have read before.
    #[serde(default)]
    replace: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Facts {
    /// Where it was.
    from: String,
    /// Where it is now.
    to: String,
}

#[async_trait]
impl Tool for MoveFile {
    fn spec(&self) -> ToolSpec {
        arguments::spec::<Arguments>("move_file", "Moves or renames a file or folder.")
    }

    fn output_schema(&self) -> Option<Value> {
        Some(schema::of_output::<Facts>())
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments::parse(arguments)?;
        let (from, to) = (arguments::path(&wanted.from)?, arguments::path(&wanted.to)?);
        let files = context.file_system();
        let replace = if wanted.replace {
            replacing(context, &to).await?
        } else {
            Replace::Never
        };
        let moved = files.rename(&from, &to, replace).await;
        stale::explained(context, &to, moved).await?;
        let now = files.stat(&to).await;
        let is_folder = now.map_or(true, |stat| stat.kind == FileKind::Directory);
        context.seen().moved(&from, &to, is_folder);
        let text = format!("Moved {from} to {to}.");
        Ok(ToolOutput::new(text).with_data(&Facts {
            from: from.to_string(),
            to: to.to_string(),
        }))
    }
}

/// What may be replaced at `to`: the file as the session has read it, and nothing that comes there meanwhile.
async fn replacing(context: &ToolContext, to: &WorkspacePath) -> Result<Replace, ToolError> {
    match context.file_system().stat(to).await {
        Ok(stat) if stat.kind == FileKind::File => {
            let Some(now) = stale::present(context, to).await? else {
                return Ok(Replace::Never);
            };
            stale::check_seen(context, to, &now).await?;
            Ok(Replace::Matches(now.version()))
        }
        Ok(stat) if stat.kind == FileKind::Symlink => Err(ToolError::new(format!(
            "{to} is a link, which a move does not replace. Nothing was changed. Delete the link with delete_file, then \
             repeat the move."
        ))),
        Ok(_) | Err(FileSystemError::NotFound { .. }) => Ok(Replace::Never),
        Err(error) => Err(errors::explain(error)),
    }
}
