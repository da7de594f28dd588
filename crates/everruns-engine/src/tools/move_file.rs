use async_trait::async_trait;
use everruns_core::file_system::{FileKind, FileSystemError, Replace};
use everruns_core::model::ToolSpec;
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
            match files.stat(&to).await {
                Ok(stat) if stat.kind == FileKind::File => {
                    if let Some(now) = stale::present(context, &to).await? {
                        stale::check_seen(context, &to, &now).await?;
                    }
                }
                Ok(_) | Err(FileSystemError::NotFound { .. }) => {}
                Err(error) => return Err(errors::explain(error)),
            }
            Replace::File
        } else {
            Replace::Never
        };
        files
            .rename(&from, &to, replace)
            .await
            .map_err(errors::explain)?;
        context.seen().moved(&from, &to);
        let text = format!("Moved {from} to {to}.");
        Ok(ToolOutput::new(text).with_data(&Facts {
            from: from.to_string(),
            to: to.to_string(),
        }))
    }
}
